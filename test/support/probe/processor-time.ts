const mostTimes = 10;

/**
 * The least that something costs, of ten times at most and no more than it takes to be below a limit. What is dear stays
 * so; a first time may pay for compiling, any for collecting garbage or for a machine that is busy.
 */
export async function leastCost(limit: number, costOnce: () => number | Promise<number>) {
  let least = await costOnce();
  for (let time = 1; time < mostTimes && least >= limit; time++) {
    least = Math.min(least, await costOnce());
  }
  return least;
}

/** The processor time that the calling thread has used since now: what other threads do is not in it. */
export function readerOfThisThread() {
  const begun = process.threadCpuUsage();
  return {
    ms: () => {
      const { user, system } = process.threadCpuUsage();
      return (user + system - begun.user - begun.system) / 1000;
    },
  };
}
