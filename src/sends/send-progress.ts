import type { Db } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';

const channel = 'askback_mails_finished';
const recheckMs = 1000;

export type SendProgress = Awaited<ReturnType<typeof createSendProgress>>;

/** The progress of one request's mails. */
export type MailWatch = {
  finishedCount: () => number;
  /** Resolves when so many are finished, after a second, or when the time is over. */
  waitForCount: (mails: number, remainingMs: number) => Promise<void>;
  end: () => void;
};

type SendProgressTools = {
  db: Db;
  log: Log;
  /** Where a connection stays with this process, if that is not the case in the pool. */
  listenOn?: Db;
};

/**
 * Counts the finished mails of waiting requests. A job counts in memory for a request of its own process,
 * and sends one notification for a request of another process.
 */
export async function createSendProgress({ db, log, listenOn = db }: SendProgressTools) {
  const watches = new Map<string, (mails: number) => void>();

  const onNotification = (payload: string) => {
    const [requestId = '', mails] = payload.split(' ');
    watches.get(requestId)?.(Number(mails));
  };
  const listening = await listenOn.listen(channel, onNotification).catch((err: unknown) => {
    log.warn({ err }, 'waiting requests look for themselves: no notifications');
  });

  /** To be called before the claims are committed: what finishes before that is not counted. */
  function watch(requestId: string): MailWatch {
    let finished = 0;
    let enough = Number.POSITIVE_INFINITY;
    let onEnough = () => {};
    watches.set(requestId, (mails) => {
      finished += mails;
      if (finished >= enough) onEnough();
    });
    return {
      finishedCount: () => finished,
      waitForCount(mails, remainingMs) {
        if (finished >= mails || remainingMs <= 0) return Promise.resolve();
        return new Promise((resolve) => {
          const timer = setTimeout(resolve, Math.min(recheckMs, remainingMs));
          enough = mails;
          onEnough = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      },
      end: () => watches.delete(requestId),
    };
  }

  /** Takes the request of each finished mail. */
  async function notify(requestIds: readonly string[]) {
    for (const [requestId, { length }] of Map.groupBy(requestIds, (each) => each)) {
      const count = watches.get(requestId);
      if (count) count(length);
      else await db.notify(channel, `${requestId} ${length}`);
    }
  }

  const stop = async () => {
    await listening?.unlisten().catch(() => {});
  };

  return { watch, notify, stop };
}
