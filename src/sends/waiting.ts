import type { Db } from '../platform/db.ts';
import type { Log } from '../platform/log.ts';

const channel = 'askback_settled';
const lookAgainMs = 1000;

export type Waiting = Awaited<ReturnType<typeof createWaiting>>;

/**
 * Tells a waiting request that some of its mails have an outcome: directly in this process, and by one
 * notification a job where the request waits in another.
 */
export async function createWaiting({ db, log }: { db: Db; log: Log }) {
  const waiting = new Map<string, () => void>();
  const wake = (requestId: string) => waiting.get(requestId)?.();

  const listening = await db.listen(channel, wake).catch((error: unknown) => {
    log.warn({ err: error }, 'waiting requests look for themselves: no notifications');
  });

  /** Resolves when something has settled, after a second at the latest, or when the time is over. */
  function nextNews(requestId: string, remainingMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        waiting.delete(requestId);
        resolve();
      };
      const timer = setTimeout(done, Math.min(lookAgainMs, Math.max(remainingMs, 0)));
      waiting.set(requestId, done);
    });
  }

  async function tell(requestIds: Iterable<string>) {
    for (const requestId of new Set(requestIds)) {
      if (waiting.has(requestId)) wake(requestId);
      else await db.notify(channel, requestId);
    }
  }

  const stop = async () => {
    await listening?.unlisten().catch(() => {});
  };

  return { nextNews, tell, stop };
}
