import type { Db } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';

const channel = 'askback_settled';
const lookAgainMs = 1000;

export type SendProgress = Awaited<ReturnType<typeof createSendProgress>>;

/** What a request hears of its mails while it waits for them. */
export type Watch = {
  /** How many of them have been told of. */
  told: () => number;
  /** Resolves when so many have, after a second at the latest, or when the time is over. */
  until: (mails: number, remainingMs: number) => Promise<void>;
  end: () => void;
};

/**
 * Tells a waiting request how many of its mails a job is done with: directly in this process, and by one
 * notification a job where the request waits in another. The request then looks once, not at every job.
 */
export async function createSendProgress({ db, log }: { db: Db; log: Log }) {
  const watches = new Map<string, (mails: number) => void>();

  const hear = (payload: string) => {
    const [requestId = '', mails] = payload.split(' ');
    watches.get(requestId)?.(Number(mails));
  };
  const listening = await db.listen(channel, hear).catch((error: unknown) => {
    log.warn({ err: error }, 'waiting requests look for themselves: no notifications');
  });

  /** From before the claims are committed: what is told before that is told to nobody. */
  function watch(requestId: string): Watch {
    let told = 0;
    let enough = Number.POSITIVE_INFINITY;
    let heardEnough = () => {};
    watches.set(requestId, (mails) => {
      told += mails;
      if (told >= enough) heardEnough();
    });
    return {
      told: () => told,
      until(mails, remainingMs) {
        if (told >= mails || remainingMs <= 0) return Promise.resolve();
        return new Promise((resolve) => {
          const timer = setTimeout(resolve, Math.min(lookAgainMs, remainingMs));
          enough = mails;
          heardEnough = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      },
      end: () => watches.delete(requestId),
    };
  }

  /** One id for each mail that a job is done with. */
  async function notify(requestIds: readonly string[]) {
    for (const requestId of new Set(requestIds)) {
      const mails = requestIds.filter((each) => each === requestId).length;
      const hears = watches.get(requestId);
      if (hears) hears(mails);
      else await db.notify(channel, `${requestId} ${mails}`);
    }
  }

  const stop = async () => {
    await listening?.unlisten().catch(() => {});
  };

  return { watch, notify, stop };
}
