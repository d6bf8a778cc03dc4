import { readdirSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { getAsset, getAssetKeys, getRawAsset, isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { withinMs } from '../async/deadline.ts';
import type { Log } from '../log/log.ts';

/**
 * The parts of a running service, stopped in the reverse of the order in which they were started. Parts that need
 * nothing of each other may start at once: they stop in the reverse of the order in which they were up.
 */
export type Lifecycle = {
  /** Without `end` a part that has `stop` is stopped by it. */
  start: <T>(name: string, begin: () => T | Promise<T>, end?: (part: T) => unknown) => Promise<T>;
  stop: () => Promise<void>;
};

/** A part that is still starting when everything is to stop gets this long to become stoppable. */
const beginningMs = 3000;

export function createLifecycle(log: Log): Lifecycle {
  const running: { name: string; end: () => unknown }[] = [];
  const beginning = new Set<Promise<unknown>>();
  let stopping = false;
  return {
    async start(name, begin, end = stopPart) {
      if (stopping) throw new Error('stopped while starting');
      const begun = (async () => {
        const part = await begin();
        running.push({ name, end: () => end(part) });
        return part;
      })();
      beginning.add(begun);
      const part = await begun.finally(() => beginning.delete(begun));
      log.debug({ part: name }, 'started');
      return part;
    },

    /** A part that cannot stop does not keep the others from stopping. */
    async stop() {
      stopping = true;
      await withinMs(Promise.allSettled(beginning), beginningMs, () => {});
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

const stopPart = (part: unknown) => (part as { stop?: () => unknown } | undefined)?.stop?.();

export type Check = () => string | undefined | Promise<string | undefined>;
export type Checks = Readonly<Record<string, Check>>;

const limitMs = 2000;

/** What is wrong, by the name of the check. A check that throws or does not end counts as failed. */
export async function findFailedChecks(checks: Checks): Promise<Record<string, string>> {
  const looks = Object.entries(checks).map(async ([name, check]) => {
    // A check that throws at once fails like one that throws later.
    const answer = (async () => await check())().catch(() => 'could not be checked');
    return [name, await withinMs(answer, limitMs, () => 'did not answer in time')];
  });
  return Object.fromEntries((await Promise.all(looks)).filter(([, why]) => why !== undefined));
}

/**
 * Gives up, for good, everything but the network. Call it when start-up is over: files that are open stay
 * open, nothing else can be opened, started or loaded. Does nothing where the permission model
 * is off, as in a checkout.
 */
export function restrictToNetwork() {
  const { permission } = process;
  if (!permission) return;
  keepThreadsToLibrary();
  for (const scope of ['child', 'addon', 'wasi', 'ffi', 'inspector'] as const)
    permission.drop(scope);
  permission.drop('fs.write');
  permission.drop('fs.read');
}

/**
 * A thread may begin with every permission that the process was started with. The worker library took the
 * constructor when it was loaded, and starts its threads without any; no other code can start a thread
 * from now on.
 */
function keepThreadsToLibrary() {
  const threads: Partial<typeof import('node:worker_threads')> =
    process.getBuiltinModule('node:worker_threads');
  delete threads.Worker;
  // It runs its hooks in a thread.
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
