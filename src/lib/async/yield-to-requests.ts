import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

export type YieldToRequests = (signal: AbortSignal) => Promise<void>;

/** Above this share of busy time, requests already wait for each other and for processors of Postgres. */
const maxBusyShare = 0.6;
const lookEveryMs = 50;
const maxLooks = 10;

/**
 * Lets background work begin when the event loop has time to spare, one piece after the other, and each after half a
 * second in any case: while requests need the processors, all such work together begins twice a second.
 *
 *     const yieldToRequests = createYieldToRequests();
 *     await yieldToRequests(signal);
 */
export function createYieldToRequests(isBusy = loopIsBusy()): YieldToRequests {
  let last: Promise<void> = Promise.resolve();

  async function wait(before: Promise<void>, signal: AbortSignal) {
    await before;
    for (let looks = 0; looks < maxLooks && isBusy(); looks++) {
      await sleep(lookEveryMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  return (signal) => {
    const turn = wait(last, signal);
    last = turn.catch(() => {});
    return turn;
  };
}

function loopIsBusy() {
  let [lookedAt, before, isBusy] = [0, performance.eventLoopUtilization(), false];
  return () => {
    if (performance.now() - lookedAt >= lookEveryMs) {
      const now = performance.eventLoopUtilization();
      isBusy = performance.eventLoopUtilization(now, before).utilization > maxBusyShare;
      [lookedAt, before] = [performance.now(), now];
    }
    return isBusy;
  };
}
