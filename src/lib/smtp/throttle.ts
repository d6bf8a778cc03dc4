import { createSemaphore } from '../async/semaphore.ts';

export type Ending = 'fine' | 'asked_for_less' | 'failed';

/**
 * How many messages are in flight at once and how soon the next may start. Groups, such as organizations, take turns.
 * A server that asks for less gets half of it and a pause; each accepted message then earns a part of a place back.
 */
export type Throttle = {
  /** Waits for a place and returns how to give it back; nothing when the signal ended the wait. */
  enter(group: string, signal?: AbortSignal): Promise<((ending: Ending) => void) | undefined>;
  state(): { limit: number; underWay: number; waiting: number };
};

type Options = { connections: number; messagesPerSecond: number | null; firstPauseMs?: number };

const maxPauseMs = 30_000;

export function createThrottle(options: Options): Throttle {
  const { connections, messagesPerSecond, firstPauseMs = 500 } = options;
  const semaphore = createSemaphore({ slots: connections, startsPerSecond: messagesPerSecond });
  let [limit, pausedUntil, pauseMs] = [connections, 0, firstPauseMs];

  function slowDown() {
    // Many connections get the same complaint at the same moment: it counts once.
    if (performance.now() < pausedUntil) return;
    limit = Math.max(1, Math.floor(limit / 2));
    pausedUntil = performance.now() + pauseMs;
    semaphore.pause(pauseMs);
    pauseMs = Math.min(pauseMs * 2, maxPauseMs);
    semaphore.resize(limit);
  }

  function speedUp() {
    if (limit === connections) return;
    limit = Math.min(connections, limit + 1 / limit);
    semaphore.resize(Math.floor(limit));
    if (limit === connections) pauseMs = firstPauseMs;
  }

  return {
    async enter(group, signal) {
      const leave = await semaphore.acquire(group, signal).catch(() => undefined);
      if (!leave) return undefined;
      return (ending) => {
        if (ending === 'asked_for_less') slowDown();
        if (ending === 'fine') speedUp();
        leave();
      };
    },
    state() {
      const { held, waiting } = semaphore.counts();
      return { limit: Math.floor(limit), underWay: held, waiting };
    },
  };
}
