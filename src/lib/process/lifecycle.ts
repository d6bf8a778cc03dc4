// The process: parts that start and stop in order, checks of readiness, assets, permissions, the service manager.

import { withinMs } from '../async/deadline.ts';
import type { Log } from '../log/log.ts';

/**
 * The parts of a running service, stopped in the reverse of the order in which they were started. Parts that need
 * nothing of each other may start at once: they stop in the reverse of the order in which they were up.
 */
export type Lifecycle = {
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
    async start(name, begin, end) {
      if (stopping) throw new Error('stopped while starting');
      const begun = (async () => {
        const part = await begin();
        if (end) running.push({ name, end: () => end(part) });
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
