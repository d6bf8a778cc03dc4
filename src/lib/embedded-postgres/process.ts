import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A server as its own `postmaster.pid` describes it. */
export type Running = { pid: number; socketFolder: string; ready: boolean; executable: string };

export const socketName = '.s.PGSQL.5432';
const deletedMark = ' (deleted)';

/** The running server of a database folder, also one that another process started. */
export function findServer(cluster: string): Running | undefined {
  const lines = readPidFile(cluster);
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 1 || !isAlive(pid)) return undefined;
  const executable = executableOf(pid);
  if (executable === undefined || folderOf(pid, cluster) !== cluster) return undefined;
  return { pid, executable, socketFolder: lines[4] ?? '', ready: lines[7]?.trim() === 'ready' };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * Resolves when a server is gone. A server that is not our child may stay as a zombie, which looks alive by
 * its number, so its socket is tried as well. Reads no files: a serving process may not.
 */
export async function untilGone({ pid, socketFolder }: Address, everyMs: number) {
  while (isAlive(pid) && (await answers(socketFolder))) {
    await sleep(everyMs, undefined, { ref: false });
  }
}

export type Address = { pid: number; socketFolder: string };

function answers(socketFolder: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path: join(socketFolder, socketName) });
    socket.once('connect', () => resolve(true));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code !== 'ENOENT' && code !== 'ECONNREFUSED');
    });
    socket.once('connect', () => socket.destroy());
  });
}

/**
 * A pid file whose number now belongs to another program keeps Postgres from ever starting (after the
 * restart of a container the numbers are the same again). It may go when no process works in the folder.
 */
export function removeStrayPidFile(cluster: string) {
  if (process.platform !== 'linux') return;
  const pid = Number(readPidFile(cluster)[0]);
  if (!Number.isInteger(pid) || !isAlive(pid) || findServer(cluster)) return;
  if (!hasWorkers(cluster)) rmSync(join(cluster, 'postmaster.pid'), { force: true });
}

/** Workers of a killed server finish what they do before they notice. */
export function hasWorkers(cluster: string): boolean {
  if (process.platform !== 'linux') return false;
  return readdirSync('/proc').some(
    (name) => /^\d+$/.test(name) && readLink(`/proc/${name}/cwd`) === cluster,
  );
}

function readPidFile(cluster: string): string[] {
  try {
    return readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}

function executableOf(pid: number): string | undefined {
  if (process.platform === 'linux') return readLink(`/proc/${pid}/exe`)?.replace(deletedMark, '');
  return commandOf(pid)?.match(/^(.*\/bin\/postgres) -D /)?.[1];
}

function folderOf(pid: number, cluster: string): string | undefined {
  if (process.platform === 'linux') return readLink(`/proc/${pid}/cwd`);
  return commandOf(pid)?.endsWith(` -D ${cluster}`) ? cluster : undefined;
}

function commandOf(pid: number): string | undefined {
  try {
    return execFileSync('/bin/ps', ['-ww', '-o', 'command=', '-p', `${pid}`], {
      encoding: 'utf8',
    }).trim();
  } catch {
    return undefined;
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
