import type { TaskList } from 'graphile-worker';

/** The same tasks, and a way to wait until none of them is running. */
export function countInFlight(tasks: TaskList) {
  let inFlight = 0;
  let whenNone = Promise.withResolvers<void>();
  const counted: TaskList = {};

  for (const [name, run] of Object.entries(tasks)) {
    counted[name] = async (payload, helpers) => {
      inFlight += 1;
      try {
        await run!(payload, helpers);
      } finally {
        inFlight -= 1;
        if (inFlight === 0) {
          whenNone.resolve();
          whenNone = Promise.withResolvers();
        }
      }
    };
  }
  return {
    tasks: counted,
    async none() {
      while (inFlight > 0) await whenNone.promise;
    },
  };
}
