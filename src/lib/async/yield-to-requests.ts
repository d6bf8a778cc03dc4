import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

export type YieldToRequests = (signal: AbortSignal) => Promise<void>;

/** Above this utilization, requests already wait for each other and for Postgres. */
const maxUtilization = 0.6;
const pollMs = 50;
const maxPolls = 10;

/**
 * Delays background work while the event loop is busy with requests. Pieces of work start one after the other, and each
 * piece waits at most half a second. Even under load, all background work together starts two pieces a second.
 *
 *     const yieldToRequests = createYieldToRequests();
 *     await yieldToRequests(signal);
 */
export function createYieldToRequests(isBusy = loopIsBusy()): YieldToRequests {
  let last: Promise<void> = Promise.resolve();

  async function wait(previous: Promise<void>, signal: AbortSignal) {
    await previous;
    for (let polls = 0; polls < maxPolls && isBusy(); polls++) {
      await sleep(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  return (signal) => {
    const turn = wait(last, signal);
    last = turn.catch(() => {});
    return turn;
  };
}

function loopIsBusy() {
  let [polledAt, previous, isBusy] = [0, performance.eventLoopUtilization(), false];
  return () => {
    if (performance.now() - polledAt >= pollMs) {
      const current = performance.eventLoopUtilization();
      isBusy = performance.eventLoopUtilization(current, previous).utilization > maxUtilization;
      [polledAt, previous] = [performance.now(), current];
    }
    return isBusy;
  };
}
