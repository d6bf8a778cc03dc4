import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { bundle } from '../../ops/build/bundle.ts';
import { v8Options } from '../../ops/build/v8-options.ts';
import { secretKey } from './surveys.ts';

const shipped = '.cache/bench/bundle/askback.mjs';

export type Service = {
  port: number;
  pid: number;
  /** From the start of the process until it prints that it listens. */
  readyMs: number;
  privateMegabytes: () => number | null;
  stop: () => Promise<void>;
};

let bundled: Promise<unknown> | undefined;

/** The service as released: a compiled bundle in its own process, with the options of the executable. */
export async function startService(
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {},
  { module = shipped } = {},
): Promise<Service> {
  if (module === shipped) {
    bundled ??= bundle('src/main.ts', shipped);
    await bundled;
  }
  const begun = performance.now();
  const options = process.env['BENCH_NODE_OPTIONS']?.split(' ') ?? v8Options;
  const command = module.endsWith('.mjs') ? [process.execPath, ...options, module] : [module];
  const child = spawn(command[0]!, [...command.slice(1), 'serve'], {
    env: {
      ...serviceSettings(databaseUrl),
      NODE_COMPILE_CACHE: '.cache/bench/compiled',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = Number(/:(\d+)$/.exec(await firstLine(child))?.[1]);
  const readyMs = performance.now() - begun;
  const privateMegabytes = () => privateMegabytesOf(child.pid!);
  return { port, pid: child.pid!, readyMs, privateMegabytes, stop: () => stop(child) };
}

/** Settings for a benchmark, with subscribers on this machine. */
const serviceSettings = (databaseUrl: string) => ({
  DATABASE_URL: databaseUrl,
  ASKBACK_SECRET_KEY: secretKey.toString('base64'),
  ASKBACK_RATE_LIMIT: '1000000',
  ASKBACK_WEBHOOK_HTTP: 'allow',
  ASKBACK_WEBHOOK_ALLOW: '127.0.0.0/8',
  PORT: '0',
  LOG_LEVEL: 'error',
});

async function firstLine(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout! });
  const [line] = await Promise.race([
    once(lines, 'line') as Promise<[string]>,
    once(child, 'exit').then(() => Promise.reject(new Error('the service ended at its start'))),
  ]);
  return line;
}

async function stop(child: ChildProcess) {
  if (child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

function privateMegabytesOf(pid: number): number | null {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const amounts = [...rollup.matchAll(/^Private_(?:Clean|Dirty): +(\d+)/gm)];
    return amounts.reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0) / 1024;
  } catch {
    return null;
  }
}
