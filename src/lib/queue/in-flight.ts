import type { TaskList } from 'graphile-worker';

/** The same tasks, and a way to wait until none of them is running. */
export function countInHand(tasks: TaskList) {
  let inHand = 0;
  let whenNone = Promise.withResolvers<void>();
  const counted: TaskList = {};

  for (const [name, run] of Object.entries(tasks)) {
    counted[name] = async (payload, helpers) => {
      inHand += 1;
      try {
        await run!(payload, helpers);
      } finally {
        inHand -= 1;
        if (inHand === 0) {
          whenNone.resolve();
          whenNone = Promise.withResolvers();
        }
      }
    };
  }
  return {
    tasks: counted,
    async none() {
      while (inHand > 0) await whenNone.promise;
    },
  };
}
