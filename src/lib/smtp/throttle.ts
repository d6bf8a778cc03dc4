/**
 * How many messages are under way at once and how soon the next may start. A server that asks for
 * less gets half of it and a pause; each accepted message then earns a part of a place back.
 */
export type Throttle = {
  /** False when the signal ended the wait. Who got true must leave. */
  enter(signal?: AbortSignal): Promise<boolean>;
  leave(how: 'fine' | 'asked_for_less' | 'failed'): void;
  state(): { limit: number; underWay: number; waiting: number };
};

type Options = { connections: number; messagesPerSecond: number | null; firstPauseMs?: number };

const longestPauseMs = 30_000;

export function createThrottle(options: Options): Throttle {
  const { connections, messagesPerSecond, firstPauseMs = 500 } = options;
  const waiting = new Set<(entered: boolean) => void>();
  let [limit, underWay, nextStart, pausedUntil, pauseMs] = [connections, 0, 0, 0, firstPauseMs];
  let timer: NodeJS.Timeout | undefined;

  /** Until the next may start; for ever while as many are under way as may be. */
  const waitMs = () => {
    if (underWay >= Math.floor(limit)) return Number.POSITIVE_INFINITY;
    return Math.max(nextStart, pausedUntil) - performance.now();
  };

  const start = () => {
    if (messagesPerSecond)
      nextStart = Math.max(nextStart, performance.now() - pacingSlackMs) + 1000 / messagesPerSecond;
    underWay += 1;
  };

  const admit = () => {
    clearTimeout(timer);
    for (const enter of waiting) {
      const wait = waitMs();
      if (wait > 0) {
        if (Number.isFinite(wait)) timer = setTimeout(admit, Math.ceil(wait));
        return;
      }
      start();
      waiting.delete(enter);
      enter(true);
    }
  };

  const slowDown = () => {
    // Many connections hear the same complaint at the same moment: it counts once.
    if (performance.now() < pausedUntil) return;
    limit = Math.max(1, Math.floor(limit / 2));
    pausedUntil = performance.now() + pauseMs;
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  };

  const speedUp = () => {
    if (limit === connections) return;
    limit = Math.min(connections, limit + 1 / limit);
    if (limit === connections) pauseMs = firstPauseMs;
  };

  return {
    enter(signal) {
      if (signal?.aborted) return Promise.resolve(false);
      if (waiting.size === 0 && waitMs() <= 0) {
        start();
        return Promise.resolve(true);
      }
      return new Promise((resolve) => {
        const enter = (entered: boolean) => {
          signal?.removeEventListener('abort', abort);
          resolve(entered);
        };
        const abort = () => {
          waiting.delete(enter);
          enter(false);
        };
        signal?.addEventListener('abort', abort, { once: true });
        waiting.add(enter);
        admit();
      });
    },
    leave(how) {
      underWay -= 1;
      if (how === 'asked_for_less') slowDown();
      if (how === 'fine') speedUp();
      admit();
    },
    state: () => ({ limit: Math.floor(limit), underWay, waiting: waiting.size }),
  };
}

// Timers are late by some milliseconds; without this much credit a fast pace would never be reached.
const pacingSlackMs = 20;
