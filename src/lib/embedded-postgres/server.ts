import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../errors.ts';
import { chownTo, spawnIdentity } from './account.ts';
import { serverEnvironment } from './cluster.ts';
import { serverRefusal } from './failure.ts';
import type { DataFolder } from './folder.ts';
import { type Address, findServer, removeStrayPidFile, untilGone } from './process.ts';

const startSeconds = 60;
const stopSeconds = 30;
const pollMs = 5;
const watchMs = 500;
const stopPollMs = 20;
const logBytes = 1_000_000;

/** A server that answers. `gone` resolves when it ends, for whatever reason. */
export type Server = Address & { gone: Promise<void> };

export type Program = { runtime: string; cluster: string };

/** Workers of a crashed server may still use the data for a moment, so it tries again. */
export async function startServer(folder: DataFolder, program: Program): Promise<Server> {
  const deadline = performance.now() + startSeconds * 1000;
  for (;;) {
    removeStrayPidFile(program.cluster);
    const log = openLog(folder);
    const server = await launch(folder, program, log);
    if (typeof server !== 'string') return server;
    const occupied = /pre-existing shared memory block|lock file .* already exists/.test(server);
    if (!occupied || performance.now() > deadline) throw serverRefusal(server);
    await sleep(100);
  }
}

/** The server that already runs, once it takes connections. */
export async function adoptServer(cluster: string): Promise<Server | undefined> {
  const deadline = performance.now() + startSeconds * 1000;
  for (;;) {
    const found = findServer(cluster);
    if (!found) return undefined;
    const { pid, socketFolder } = found;
    if (found.ready) return { pid, socketFolder, gone: untilGone(found, watchMs) };
    if (performance.now() > deadline) {
      throw new Refusal('unavailable', `the embedded Postgres has not become ready (pid ${pid})`);
    }
    await sleep(pollMs);
  }
}

/** Ends the sessions of the server, lets it write everything to disk, and waits until it is gone. */
export async function stopServer(server: Server) {
  const late = setTimeout(() => signal(server.pid, 'SIGQUIT'), stopSeconds * 1000);
  signal(server.pid, 'SIGINT');
  await Promise.race([server.gone, untilGone(server, stopPollMs)]);
  clearTimeout(late);
}

type Log = { fd: number; path: string; from: number };

/** The server writes its log into a file that outlives this process; a long file is put aside at a start. */
function openLog(folder: DataFolder): Log {
  const path = join(folder.path, 'postgres.log');
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > logBytes) renameSync(path, `${path}.1`);
  const fd = openSync(path, 'a', 0o600);
  chownTo(path, folder.account);
  return { fd, path, from: size > logBytes ? 0 : size };
}

/** In a session of its own: a Ctrl-C in the terminal must not end the server, which is still needed to finish. */
async function launch(folder: DataFolder, program: Program, log: Log): Promise<Server | string> {
  const child = spawn(`${program.runtime}/bin/postgres`, ['-D', program.cluster], {
    ...spawnIdentity(folder.account),
    cwd: program.cluster,
    env: serverEnvironment,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  closeSync(log.fd);
  child.unref();
  const gone = exitOf(child);
  const server = await Promise.race([ready(child, program.cluster), gone]);
  if (server) return { ...server, gone };
  return readFileSync(log.path).subarray(log.from).toString('utf8');
}

function exitOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => resolve());
  });
}

async function ready(child: ChildProcess, cluster: string) {
  while (child.exitCode === null && child.signalCode === null) {
    const found = findServer(cluster);
    if (found?.ready && found.pid === child.pid) return found;
    await sleep(pollMs);
  }
  return undefined;
}

function signal(pid: number, name: NodeJS.Signals) {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as { code?: string }).code !== 'ESRCH') throw error;
  }
}
