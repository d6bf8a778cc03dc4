import { withinMs } from './deadline.ts';

type CacheTimes = {
  everyMs: number;
  /** How long one caller waits for an answer. */
  patienceMs: number;
};

/**
 * Asks at most once in that time, and once for all callers that come together. A caller that waits too long
 * gets nothing, and so does one whose question failed; a question without an answer is not asked again.
 */
export function cachedFor<T>(ask: () => Promise<T>, { everyMs, patienceMs }: CacheTimes) {
  let latest: { answer: Promise<T | undefined>; askedAt: number; open: boolean } | undefined;

  function askAgain() {
    const answer = ask().catch(() => undefined);
    const asked = { answer, askedAt: performance.now(), open: true };
    void answer.then(() => {
      asked.open = false;
    });
    return asked;
  }

  return async (): Promise<T | undefined> => {
    const isOld = !latest || (!latest.open && performance.now() - latest.askedAt >= everyMs);
    if (isOld) latest = askAgain();
    return await withinMs(latest!.answer, patienceMs, () => undefined);
  };
}
