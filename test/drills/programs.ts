import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const postgresPrograms = '/usr/lib/postgresql/15/bin';

/** Postgres refuses to run as root, so root starts programs as the account of Debian's package. */
export const account = accountOfServers();

function accountOfServers(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Creates a folder that the programs of a drill can write to. */
export function createHome(): { path: string; remove: () => void } {
  const root = mkdtempSync(join(tmpdir(), 'askback-drill-'));
  chmodSync(root, 0o755);
  const path = join(root, 'servers');
  mkdirSync(path);
  if (account.uid !== undefined) chownSync(path, account.uid, account.gid!);
  const keep = process.env['DRILL_KEEP'];
  return { path, remove: () => keep || rmSync(root, { recursive: true, force: true }) };
}

export type Program = {
  pid: number;
  logFile: string;
  end: (signal?: NodeJS.Signals) => Promise<void>;
};

type Starting = { home: string; name: string; command: readonly [string, ...string[]] };

/** Starts a program that runs until it is stopped. */
export function startProgram({ home, name, command: [program, ...words] }: Starting): Program {
  const logFile = join(home, `${name}.log`);
  const log = openSync(logFile, 'a');
  const child = spawn(program, words, {
    ...account,
    env: environment(),
    cwd: home,
    stdio: ['ignore', log, log],
  });
  return { pid: child.pid!, logFile, end: (signal = 'SIGTERM') => end(child, signal) };
}

const environment = () => ({
  PATH: `${process.env['PATH']}:${postgresPrograms}:/usr/sbin`,
  LC_ALL: 'C.UTF-8',
});

async function end(child: ChildProcess, signal: NodeJS.Signals) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

/** A process and its descendants, such as a postmaster and its backends. */
export function treeOf(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(treeOf)];
}

/** Signals the parent first, so that it does not react to the end of its children. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals) {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // the process has already ended
    }
  }
}

/** The postmaster of a data folder, if it is running. */
export function postmasterOf(dataDir: string): number | undefined {
  const pid = Number(read(join(dataDir, 'postmaster.pid')).split('\n')[0]);
  return pid > 0 && read(`/proc/${pid}/stat`) !== '' ? pid : undefined;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
