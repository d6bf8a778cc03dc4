import { withinMs } from './deadline.ts';

type CacheTimes = {
  ttlMs: number;
  /** Time that one caller waits for an answer. */
  timeoutMs: number;
};

/**
 * Asks at most once in that time, and once for all callers that come together. A caller that waits too long
 * gets nothing, and so does one whose question failed; a question without an answer is not asked again.
 */
export function cacheWithTtl<T>(ask: () => Promise<T>, { ttlMs, timeoutMs }: CacheTimes) {
  let latest: Promise<T | undefined> | undefined;
  let [askedAt, isOpen] = [0, false];

  return async (): Promise<T | undefined> => {
    if (!latest || (!isOpen && performance.now() - askedAt >= ttlMs)) {
      [askedAt, isOpen] = [performance.now(), true];
      latest = ask()
        .catch(() => undefined)
        .finally(() => {
          isOpen = false;
        });
    }
    return await withinMs(latest, timeoutMs, () => undefined);
  };
}
