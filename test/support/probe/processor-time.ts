const mostTimes = 10;

/**
 * The lowest cost of up to ten runs, ending early below the limit. Real costs remain in every run. Compilation, garbage
 * collection or a busy machine only affect some.
 */
export async function leastCost(limit: number, costOnce: () => number | Promise<number>) {
  let least = await costOnce();
  for (let time = 1; time < mostTimes && least >= limit; time++) {
    least = Math.min(least, await costOnce());
  }
  return least;
}

/** CPU time of the calling thread since now, without other threads. */
export function readerOfThisThread() {
  const begun = process.threadCpuUsage();
  return {
    ms: () => {
      const { user, system } = process.threadCpuUsage();
      return (user + system - begun.user - begun.system) / 1000;
    },
  };
}
