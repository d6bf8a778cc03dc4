import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { connect } from '../../../src/lib/db/db.ts';
import { clusterOf } from '../../../src/lib/embedded-postgres/cluster.ts';
import {
  type EmbeddedOptions,
  startEmbedded,
} from '../../../src/lib/embedded-postgres/embedded.ts';
import { findServer, stopServer } from '../../../src/lib/embedded-postgres/server.ts';

/** Path of a new data folder. Processes in it are ended when the test ends. */
export function dataFolder(t: TestContext, name = 'data') {
  const home = mkdtempSync(join(tmpdir(), 'askback-test-'));
  chmodSync(home, 0o755);
  const dataDir = join(home, name);
  t.after(async () => {
    await Promise.all((started.get(dataDir) ?? []).map((stop) => stop()));
    const server = findServer(clusterOf({ path: dataDir }));
    if (server) await stopServer({ ...server, gone: new Promise(() => {}) });
    rmSync(home, { recursive: true, force: true });
  });
  return dataDir;
}

const started = new Map<string, (() => Promise<void>)[]>();

/** Serves from the folder in this process, until the test ends or earlier. */
export async function serveFrom(dataDir: string, options: Partial<EmbeddedOptions> = {}) {
  const embedded = await startEmbedded({ ...optionsFor(dataDir), ...options });
  started.set(dataDir, [...(started.get(dataDir) ?? []), embedded.stop]);
  return embedded;
}

export const optionsFor = (dataDir: string): EmbeddedOptions => ({
  program: 'askback',
  dataDir,
  say: () => {},
  durable: false,
  keepRoot: true,
});

export async function ask<T>(url: string, question: string): Promise<T> {
  const db = connect(url, { connections: 1 });
  try {
    const [row] = await db.unsafe<{ answer: T }[]>(`select ${question} as answer`);
    return row!.answer;
  } finally {
    await db.end();
  }
}

type Holder = { child: ChildProcess; said: string; next(): Promise<string> };

/** Another process that serves from the folder, up to its first output. */
export async function hold(t: TestContext, dataDir: string, mode = ''): Promise<Holder> {
  const program = fileURLToPath(new URL('./embedded-holder.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', program, dataDir, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await ended;
  });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const next = async () => String((await lines.next()).value);
  return { child, said: await next(), next };
}

export async function end({ child }: Holder, signal: NodeJS.Signals) {
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

export const postmasterPid = (dataDir: string) =>
  Number(readFileSync(join(clusterOf({ path: dataDir }), 'postmaster.pid'), 'utf8').split('\n')[0]);
