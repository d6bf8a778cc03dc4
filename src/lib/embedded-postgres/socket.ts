import { hash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../../errors.ts';
import { chownTo } from './account.ts';
import type { DataFolder } from './folder.ts';
import { socketName } from './process.ts';

/** The kernel keeps a socket's path in a field of 108 bytes on Linux and 104 on macOS, its end included. */
const longestPath = process.platform === 'linux' ? 107 : 103;
const shortHome = '/tmp';

/**
 * The folder of the server's socket, closed to other accounts: the server trusts every connection. A data
 * folder whose path is long, or cannot stand in a settings file or an address, has its socket under /tmp.
 */
export function makeSocketFolder(folder: DataFolder): string {
  const near = join(folder.path, 'run');
  const socket = Buffer.byteLength(join(near, socketName));
  const fits = socket <= longestPath && /^[\w./-]+$/.test(near);
  const path = fits
    ? near
    : join(shortHome, `${folder.program}-${hash('sha256', folder.path).slice(0, 16)}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  refuseTaken(path, folder);
  chownTo(path, folder.account);
  chmodSync(path, 0o700);
  return path;
}

/** Under /tmp any account could have made a folder of that name before. */
function refuseTaken(path: string, { account }: DataFolder) {
  const stat = lstatSync(path);
  const ours = stat.uid === account.uid || stat.uid === process.getuid?.();
  if (stat.isDirectory() && ours) return;
  throw new Refusal('unavailable', `${path} belongs to another account: remove it and start again`);
}

/** Removes the empty folder; a process that serves may write no files and leaves it. */
export function removeSocketFolder(path: string) {
  try {
    rmdirSync(path);
  } catch {
    // The next start uses it again.
  }
}

/**
 * An address that both drivers understand: `pg` reads `host` from the query as libpq does; `connect` in
 * lib/db/db.ts takes it out for postgres.js, which would hand it to the server as a setting.
 */
export const addressAt = (socketFolder: string, program: string) =>
  `postgres://${program}@localhost/${program}?host=${encodeURIComponent(socketFolder)}`;
