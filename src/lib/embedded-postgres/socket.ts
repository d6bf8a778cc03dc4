import { hash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../../errors.ts';
import { give } from './account.ts';
import { database, role } from './cluster.ts';
import type { DataFolder } from './folder.ts';
import { socketName } from './process.ts';

/** The kernel keeps a socket's path in a field of 108 bytes on Linux and 104 on macOS, its end included. */
const longestPath = process.platform === 'linux' ? 107 : 103;
const shortHome = '/tmp';

/**
 * The folder of the server's socket, which no other account may enter: being able to connect is all the
 * proof the server asks for. A data folder with a long path, or one that a settings file or
 * an address could not carry, has its socket under /tmp.
 */
export function makeSocketFolder(folder: DataFolder): string {
  const near = join(folder.path, 'run');
  const socket = Buffer.byteLength(join(near, socketName));
  const fits = socket <= longestPath && /^[\w./-]+$/.test(near);
  const path = fits ? near : join(shortHome, `askback-${hash('sha256', folder.path).slice(0, 16)}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  refuseTaken(path, folder);
  give(path, folder.account);
  chmodSync(path, 0o700);
  return path;
}

/** Under /tmp anybody could have made a folder of that name before. */
function refuseTaken(path: string, { account }: DataFolder) {
  const stat = lstatSync(path);
  const ours = stat.uid === account.uid || stat.uid === process.getuid?.();
  if (stat.isDirectory() && ours) return;
  throw new Refusal('unavailable', `${path} belongs to somebody else: remove it and start again`);
}

/** Leaves nothing empty behind where files may still be written; a process that serves no longer may. */
export function removeSocketFolder(path: string) {
  try {
    rmdirSync(path);
  } catch {
    // it is used again at the next start
  }
}

/**
 * An address that both drivers understand: `pg` reads `host` from the query as libpq does; `connect` in
 * lib/db/db.ts takes it out for postgres.js, which would hand it to the server as a setting.
 */
export const addressAt = (socketFolder: string, name = database) =>
  `postgres://${role}@localhost/${name}?host=${encodeURIComponent(socketFolder)}`;
