import { readdirSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { getAsset, getAssetKeys, getRawAsset, isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { withinMs } from '../async/deadline.ts';
import type { Log } from '../log/log.ts';

/** Starts the parts of a service. At the end, the part that finished starting last stops first. */
export type Lifecycle = {
  /** `end` defaults to the part's own `stop` or `close`, or to the part if it is a function. */
  start: <T>(name: string, begin: () => T | Promise<T>, end?: (part: T) => unknown) => Promise<T>;
  stop: () => Promise<void>;
};

/** At shutdown, a part that is still starting gets this long. */
const maxStartMs = 3000;

export function createLifecycle(log: Log): Lifecycle {
  const running: { name: string; end: () => unknown }[] = [];
  const starting = new Set<Promise<unknown>>();
  let stopping = false;
  return {
    async start(name, begin, end = stopPart) {
      if (stopping) throw new Error('stopped while starting');
      const start = (async () => {
        const part = await begin();
        running.push({ name, end: () => end(part) });
        return part;
      })();
      starting.add(start);
      const part = await start.finally(() => starting.delete(start));
      log.debug({ part: name }, 'started');
      return part;
    },

    async stop() {
      stopping = true;
      await withinMs(Promise.allSettled(starting), maxStartMs, () => {});
      for (let part = running.pop(); part; part = running.pop()) {
        const { name, end } = part;
        try {
          await end();
          log.debug({ part: name }, 'stopped');
        } catch (error) {
          log.error({ err: error, part: name }, 'did not stop cleanly');
        }
      }
    },
  };
}

function stopPart(part: unknown) {
  if (typeof part === 'function') return part();
  const own = part as { stop?: () => unknown; close?: () => unknown } | undefined;
  return own?.stop ? own.stop() : own?.close?.();
}

export type Check = () => string | undefined | Promise<string | undefined>;
export type Checks = Readonly<Record<string, Check>>;

const limitMs = 2000;

/** Returns the problems by check. A check that throws or does not finish in time counts as failed. */
export async function findFailedChecks(checks: Checks): Promise<Record<string, string>> {
  const results = Object.entries(checks).map(async ([name, check]) => {
    const problem = (async () => await check())().catch(() => 'could not be checked');
    return [name, await withinMs(problem, limitMs, () => 'did not answer in time')];
  });
  return Object.fromEntries(
    (await Promise.all(results)).filter(([, problem]) => problem !== undefined),
  );
}

/**
 * Drops all permissions but the network, for good. Open files stay open, but nothing else can be opened, started or
 * loaded. Does nothing without Node's permission model, as in a checkout.
 */
export function restrictToNetwork() {
  const { permission } = process;
  if (!permission) return;
  blockNewThreads();
  for (const scope of ['child', 'addon', 'wasi', 'ffi', 'inspector'] as const)
    permission.drop(scope);
  permission.drop('fs.write');
  permission.drop('fs.read');
}

/**
 * A new thread would get the original permissions of the process. From now on only `lib/worker`, which holds the
 * constructor, can start threads, and limits their permissions.
 */
function blockNewThreads() {
  const threads: Partial<typeof import('node:worker_threads')> =
    process.getBuiltinModule('node:worker_threads');
  delete threads.Worker;
  // `register` runs its hooks in a thread.
  const modules: Partial<typeof import('node:module')> = process.getBuiltinModule('node:module');
  delete modules.register;
  syncBuiltinESMExports();
}

export function readAsset(name: string): string {
  return isSea() ? getAsset(name, 'utf8') : readFileSync(root() + name, 'utf8');
}

export function assetBytes(name: string): Buffer {
  return isSea() ? Buffer.from(getRawAsset(name)) : readFileSync(root() + name);
}

export const hasAsset = (name: string): boolean => isSea() && getAssetKeys().includes(name);

export function listAssets(folder: string): string[] {
  const names = isSea()
    ? getAssetKeys().filter((key) => key.startsWith(folder))
    : readdirSync(root() + folder).map((file) => folder + file);
  return names.sort();
}

const root = () => fileURLToPath(new URL('../../../', import.meta.url));
