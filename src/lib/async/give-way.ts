import { performance } from 'node:perf_hooks';
import { type Clock, realClock } from './clock.ts';

export type GiveWay = ReturnType<typeof createGiveWay>;

type Options = {
  /** The share of the time that the event loop was busy since the last call. */
  busyShare?: () => number;
  clock?: Clock;
};

/** Above this share of busy time, requests already wait for each other, and Postgres needs processors for them, too. */
const mostBusyShare = 0.6;
const lookEveryMs = 50;
const longestMs = 500;

/**
 * Lets background work begin when the event loop has time to spare, one piece after the other, and each after half a
 * second in any case: while requests need the processors, all such work together begins twice a second.
 *
 *     const giveWay = createGiveWay();
 *     await giveWay(signal);
 */
export function createGiveWay({ busyShare = shareOfLoop(), clock = realClock }: Options = {}) {
  let [share, lookedAt] = [0, Number.NEGATIVE_INFINITY];

  function isBusy() {
    if (clock.now() - lookedAt >= lookEveryMs) [share, lookedAt] = [busyShare(), clock.now()];
    return share > mostBusyShare;
  }

  let last: Promise<void> = Promise.resolve();

  async function wait(before: Promise<void>, signal: AbortSignal) {
    await before;
    const latest = clock.now() + longestMs;
    while (isBusy() && clock.now() < latest) await pause(clock, signal);
  }

  return async (signal: AbortSignal): Promise<void> => {
    const turn = wait(last, signal);
    last = turn.catch(() => {});
    await turn;
  };
}

function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const cancel = clock.after(lookEveryMs, resolve);
  const stop = () => {
    cancel();
    reject(signal.reason);
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  return promise.finally(() => signal.removeEventListener('abort', stop));
}

function shareOfLoop() {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
