import { setTimeout as sleep } from 'node:timers/promises';

type Patience = { everyMs: number; patienceMs: number };

/**
 * Asks at most so often, and once for all who want to know at the same time. Who would have to wait for
 * longer than they have patience gets nothing; a question that is not answered yet is not put again.
 */
export function cachedFor<T>(ask: () => Promise<T>, { everyMs, patienceMs }: Patience) {
  let latest: { answer: Promise<T | undefined>; askedAt: number; open: boolean } | undefined;

  function put() {
    const answer = ask().catch(() => undefined);
    const put = { answer, askedAt: performance.now(), open: true };
    void answer.then(() => {
      put.open = false;
    });
    return put;
  }

  return async (): Promise<T | undefined> => {
    const isOld = !latest || (!latest.open && performance.now() - latest.askedAt >= everyMs);
    if (isOld) latest = put();
    return await inTime(latest!.answer, patienceMs);
  };
}

async function inTime<T>(answer: Promise<T>, ms: number): Promise<T | undefined> {
  const answered = new AbortController();
  const late = sleep(ms, undefined, { signal: answered.signal }).catch(() => undefined);
  try {
    return await Promise.race([answer, late]);
  } finally {
    answered.abort();
  }
}
