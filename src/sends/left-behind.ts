import { mailed } from '../happenings.ts';
import type { Db, Sql } from '../platform/db.ts';
import type { Log } from '../platform/log.ts';
import { enqueue } from '../platform/outbox.ts';
import { jobsOf } from './claim.ts';
import {
  cancelLeft,
  type LeftMail,
  listFailedJobs,
  listLeft,
  removeJobs,
} from './left-behind.queries.ts';
import { unknownOutcome } from './rules.ts';
import { endedFacts } from './settled.ts';
import { giveUpBegun, lockMonths } from './settling.queries.ts';

/** Longer than a mail can be on its way and then wait for its outcome to be written. */
const marginSeconds = 180;
const mailableForMs = 24 * 60 * 60 * 1000;
const jobsAtOnce = 20;

export type LeftBehindTools = {
  db: Db;
  log: Log;
  pump: () => void;
  settings: { sendDeadlineSeconds: number };
};

/**
 * Finds mails without an outcome whose job has failed for the last time. A mail that nobody has begun gets
 * a new job, as long as it is worth being read; of one that was begun nobody will ever know. None goes out
 * twice: whoever wants to send one has to turn it from claimed to sending, and only one can.
 */
export async function takeUpLeft({ db, log, pump, settings }: LeftBehindTools) {
  const failed = { seconds: settings.sendDeadlineSeconds + marginSeconds, atMost: jobsAtOnce };
  let jobs = 0;
  do {
    const taken = await db.begin(async (tx) => {
      const found = await listFailedJobs(tx, failed);
      const left = await listLeft(
        tx,
        found.flatMap(({ send_ids }) => send_ids),
      );
      await takeUp(tx, left);
      if (found.length > 0) {
        await removeJobs(
          tx,
          found.map(({ id }) => id),
        );
      }
      return { jobs: found.length, left };
    });
    if (taken.left.length > 0) log.warn({ count: taken.left.length }, 'mails were left behind');
    for (const mail of taken.left.filter(isBegun)) mailed.tell(endedFacts(mail, 'unknown'));
    for (const mail of taken.left.filter(againstSending)) mailed.tell(endedFacts(mail, 'failed'));
    if (taken.jobs > 0) pump();
    jobs = taken.jobs;
  } while (jobs === jobsAtOnce);
}

const isBegun = ({ status }: LeftMail) => status === 'sending';

async function takeUp(tx: Sql, left: readonly LeftMail[]) {
  const waiting = left.filter((mail) => !isBegun(mail));
  const mailable = waiting.filter((mail) => !againstSending(mail));
  const notSent = waiting.flatMap((mail) => {
    const reason = againstSending(mail);
    return reason ? [{ id: mail.id, org_id: mail.org_id, reason }] : [];
  });

  if (notSent.length > 0) {
    await lockMonths(
      tx,
      notSent.map(({ id }) => id),
    );
    await cancelLeft(tx, notSent);
  }
  for (const [orgId, ids] of byOrganization(left.filter(isBegun))) {
    await giveUpBegun(tx, orgId, ids, unknownOutcome);
  }
  for (const [orgId, ids] of byOrganization(mailable)) {
    await enqueue(tx, jobsOf({ orgId, traceparent: null }, ids));
  }
}

function againstSending({ status, unsubscribed, closed, claimed_ms_ago }: LeftMail): string | null {
  if (status === 'sending') return null;
  if (unsubscribed) return 'not sent: the address has unsubscribed meanwhile';
  if (closed) return 'not sent: the survey was closed meanwhile';
  return claimed_ms_ago > mailableForMs ? 'could not be sent within a day' : null;
}

function byOrganization(mails: readonly LeftMail[]): Map<string, string[]> {
  const ids = Map.groupBy(mails, ({ org_id }) => org_id);
  return new Map([...ids].map(([orgId, own]) => [orgId, own.map(({ id }) => id)]));
}
