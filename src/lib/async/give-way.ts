import { performance } from 'node:perf_hooks';
import { type Clock, realClock } from './clock.ts';

export type GiveWay = ReturnType<typeof createGiveWay>;

type Options = {
  /** The share of the time that the event loop was busy since the last call. */
  busyShare?: () => number;
  clock?: Clock;
};

/** Above this share of busy time, requests already wait for each other. */
const mostBusyShare = 0.7;
const lookEveryMs = 50;
const longestMs = 500;

/**
 * Lets background work begin when the event loop has time to spare, and after half a second in any case.
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

  return async (signal: AbortSignal): Promise<void> => {
    const latest = clock.now() + longestMs;
    while (isBusy() && clock.now() < latest) await pause(clock, signal);
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
