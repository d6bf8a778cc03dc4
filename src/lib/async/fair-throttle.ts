import { type Clock, realClock } from './clock.ts';

export type FairThrottle = ReturnType<typeof createFairThrottle>;

type Options = { perSecond: number | null; clock?: Clock };

// Timers are late by some milliseconds; without this much credit a fast rate is never reached.
const slackMs = 20;

/**
 * Limits how many start in a second. Groups, such as organizations, take turns; inside a group the
 * order of arrival counts. It can be paused; without a rate it only pauses.
 *
 *     const throttle = createFairThrottle({ perSecond: 50 });
 *     await throttle.turn(tenant, signal);
 */
export function createFairThrottle({ perSecond, clock = realClock }: Options) {
  const groups = new Map<string, Set<() => void>>();
  let [nextStart, pausedUntil] = [0, 0];
  let stopTimer = () => {};

  const waitMs = () => Math.max(nextStart, pausedUntil) - clock.now();

  function count() {
    if (perSecond === null) return;
    nextStart = Math.max(nextStart, clock.now() - slackMs) + 1000 / perSecond;
  }

  function serve() {
    stopTimer();
    stopTimer = () => {};
    while (groups.size > 0) {
      const wait = waitMs();
      if (wait > 0) {
        stopTimer = clock.after(Math.ceil(wait), serve);
        return;
      }
      count();
      takeNext()();
    }
  }

  /** The first of the group whose turn it is; the group goes to the end of the queue. */
  function takeNext(): () => void {
    const [name, waiting] = groups.entries().next().value!;
    const [start] = waiting as Set<() => void>;
    waiting.delete(start!);
    groups.delete(name);
    if (waiting.size > 0) groups.set(name, waiting);
    return start!;
  }

  function remove(name: string, start: () => void) {
    const waiting = groups.get(name);
    if (waiting?.delete(start) && waiting.size === 0) groups.delete(name);
    if (groups.size === 0) stopTimer();
  }

  /** Waits for the turn. Rejects with the signal's reason. */
  async function turn(name: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => resolve();
    const abort = () => {
      remove(name, start);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    groups.set(name, (groups.get(name) ?? new Set()).add(start));
    serve();
    return promise.finally(() => signal?.removeEventListener('abort', abort));
  }

  /** Nothing starts for that long. */
  function pause(ms: number) {
    pausedUntil = Math.max(pausedUntil, clock.now() + ms);
    serve();
  }

  const waiting = () => [...groups.values()].reduce((sum, { size }) => sum + size, 0);
  return { turn, pause, counts: () => ({ waiting: waiting(), groups: groups.size }) };
}
