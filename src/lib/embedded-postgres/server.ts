import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../errors.ts';
import { serverEnvironment, serverRefusal } from './cluster.ts';
import { chownTo, type DataFolder, socketName, spawnIdentity } from './folder.ts';

const startSeconds = 60;
/** Less than the time that a serving process has to stop everything. */
const stopSeconds = 12;
const pollMs = 5;
const watchMs = 500;
const stopPollMs = 20;
const maxLogBytes = 1_000_000;

/** A running server. `gone` resolves when it ends. */
export type Server = Address & { gone: Promise<void> };

type Program = { runtime: string; cluster: string };

/** Retries, because workers of a crashed server may use the data for a moment longer. */
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

export async function adoptServer(cluster: string): Promise<Server | undefined> {
  const deadline = performance.now() + startSeconds * 1000;
  for (;;) {
    const running = findServer(cluster);
    if (!running) return undefined;
    const { pid, socketFolder } = running;
    if (running.ready) return { pid, socketFolder, gone: waitUntilGone(running, watchMs) };
    if (performance.now() > deadline) {
      throw unavailable(`the embedded Postgres has not become ready (pid ${pid})`);
    }
    await sleep(pollMs);
  }
}

/** Fast shutdown: ends all sessions, writes everything to disk and waits for the end. */
export async function stopServer(server: Server) {
  const late = setTimeout(() => signal(server.pid, 'SIGQUIT'), stopSeconds * 1000);
  signal(server.pid, 'SIGINT');
  await Promise.race([server.gone, waitUntilGone(server, stopPollMs)]);
  clearTimeout(late);
}

/** Immediate shutdown: the server recovers at its next start. */
export const quitServer = (pid: number) => signal(pid, 'SIGQUIT');

type Log = { fd: number; path: string; from: number };

/** The server writes its log to a file, because it outlives this process. A long file is rotated at the start. */
function openLog(folder: DataFolder): Log {
  const path = join(folder.path, 'postgres.log');
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > maxLogBytes) renameSync(path, `${path}.1`);
  const fd = openSync(path, 'a', 0o600);
  chownTo(path, folder.account);
  return { fd, path, from: size > maxLogBytes ? 0 : size };
}

/**
 * Starts a detached server, so that Ctrl-C does not end it while this process still needs it. Returns the log if the
 * server does not start.
 */
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
  const gone = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => resolve());
  });
  const server = await Promise.race([waitUntilReady(child, program.cluster), gone]);
  if (server) return { ...server, gone };
  return readFileSync(log.path).subarray(log.from).toString('utf8');
}

async function waitUntilReady(child: ChildProcess, cluster: string) {
  while (child.exitCode === null && child.signalCode === null) {
    const running = findServer(cluster);
    if (running?.ready && running.pid === child.pid) return running;
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

type Running = { pid: number; socketFolder: string; ready: boolean; executable: string };

export function findServer(cluster: string): Running | undefined {
  const lines = readPidFile(cluster);
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 1 || !isAlive(pid)) return undefined;
  refuseHidden(pid, cluster);
  const executable = executableOf(pid);
  if (executable === undefined || folderOf(pid, cluster) !== cluster) return undefined;
  return { pid, executable, socketFolder: lines[4] ?? '', ready: lines[7]?.trim() === 'ready' };
}

/** Refuses a process in another user namespace. Treating its pid file as stale would end that server. */
function refuseHidden(pid: number, cluster: string) {
  try {
    if (process.platform === 'linux') readlinkSync(`/proc/${pid}/cwd`);
  } catch (error) {
    if ((error as { code?: string }).code !== 'EACCES') return;
    throw unavailable(
      `process ${pid} may be the Postgres of ${cluster}, but this account may not inspect it: run the command as root`,
    );
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * Also tries the socket, because a zombie looks alive by its pid. Reads no files: a serving process lacks permission.
 */
async function waitUntilGone({ pid, socketFolder }: Address, everyMs: number) {
  while (isAlive(pid) && (await isListening(socketFolder))) {
    await sleep(everyMs, undefined, { ref: false });
  }
}

type Address = { pid: number; socketFolder: string };

function isListening(socketFolder: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path: join(socketFolder, socketName) });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code !== 'ENOENT' && code !== 'ECONNREFUSED');
    });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/**
 * Removes a pid file whose pid belongs to another program, as after a container restart. Postgres would never start
 * with it. The file stays while a process works in the folder.
 */
export function removeStrayPidFile(cluster: string) {
  if (process.platform !== 'linux') return;
  const pid = Number(readPidFile(cluster)[0]);
  if (!Number.isInteger(pid) || !isAlive(pid) || findServer(cluster)) return;
  // Workers of a killed server finish their work before they notice.
  const hasWorkers = readdirSync('/proc').some(
    (name) => /^\d+$/.test(name) && readLink(`/proc/${name}/cwd`) === cluster,
  );
  if (!hasWorkers) rmSync(join(cluster, 'postmaster.pid'), { force: true });
}

function readPidFile(cluster: string): string[] {
  try {
    return readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}

function executableOf(pid: number): string | undefined {
  if (process.platform === 'linux') return readLink(`/proc/${pid}/exe`)?.replace(' (deleted)', '');
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
