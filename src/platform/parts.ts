import type { Log } from './log.ts';

/** The parts of a running service, stopped in the reverse of the order in which they were started. */
export type Parts = {
  start: <T>(name: string, begin: () => T | Promise<T>, end?: (part: T) => unknown) => Promise<T>;
  stop: () => Promise<void>;
};

export function createParts(log: Log): Parts {
  const running: { name: string; end: () => unknown }[] = [];
  return {
    async start(name, begin, end) {
      const part = await begin();
      if (end) running.push({ name, end: () => end(part) });
      log.debug({ part: name }, 'started');
      return part;
    },

    /** A part that cannot stop does not keep the others from stopping. */
    async stop() {
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
