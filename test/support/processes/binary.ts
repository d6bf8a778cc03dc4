import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { clusterOf } from '../../../src/lib/embedded-postgres/cluster.ts';
import { findServer, stopServer } from '../../../src/lib/embedded-postgres/server.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
export const binary = join(root, 'dist/askback');

/** Also rebuilds an outdated executable. */
export const buildBinary = () =>
  execFileSync('make', ['-s', 'dist/askback'], { cwd: root, stdio: ['ignore', 2, 2] });

/** An empty folder for the executable, whose processes are killed when the test ends. */
export function emptyFolder(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'askback-binary-'));
  t.after(async () => {
    await Promise.all((services.get(folder) ?? []).map((end) => end()));
    const data = join(folder, 'askback-data');
    const real = existsSync(data) ? realpathSync(data) : data;
    const server = findServer(clusterOf({ path: real }));
    if (server) await stopServer({ ...server, gone: new Promise(() => {}) });
    rmSync(real, { recursive: true, force: true });
    rmSync(folder, { recursive: true });
  });
  return folder;
}

const services = new Map<string, (() => Promise<unknown>)[]>();

type Environment = Readonly<Record<string, string>>;

/** Runs a command of the executable without the environment of the test. */
export async function command(cwd: string, words: readonly string[], env: Environment = {}) {
  const child = spawn(binary, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: code as number, stdout, stderr };
}

/** Starts a service from the executable on a free port. */
export async function service(cwd: string, env: Environment = {}) {
  const begun = performance.now();
  const child = spawn(binary, ['serve'], {
    cwd,
    env: { PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const end = () => {
    child.kill('SIGKILL');
    return ended;
  };
  services.set(cwd, [...(services.get(cwd) ?? []), end]);
  const errors = text(child.stderr);
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(async () => Promise.reject(new Error(`it ended: ${await errors}`))),
  ])) as [string];
  const url = /http:\S+/.exec(line)![0];
  await fetch(`${url}/healthz`);
  return { child, url, errors, ended, seconds: (performance.now() - begun) / 1000 };
}
