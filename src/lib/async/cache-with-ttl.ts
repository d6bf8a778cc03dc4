import { withinMs } from './deadline.ts';

/**
 * Caches the result of a call, which concurrent callers share. A caller gets undefined if the call fails or takes longer
 * than the timeout. A pending call is never repeated.
 */
export function cacheWithTtl<T>(
  ask: () => Promise<T>,
  { ttlMs, timeoutMs }: { ttlMs: number; timeoutMs: number },
) {
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
