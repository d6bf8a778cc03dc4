import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import type { Log } from '../lib/log/log.ts';
import { enqueue } from '../lib/queue/outbox.ts';
import { mailed } from '../signals.ts';
import { jobsOf } from './claim.ts';
import {
  cancelLeft,
  type LeftMail,
  listFailedJobs,
  listLeft,
  removeJobs,
} from './recover.queries.ts';
import { unknownOutcome } from './rules.ts';
import { endedFacts } from './settled.ts';
import { type EndedMail, giveUpBegun, lockMonths } from './settling.queries.ts';

/** Longer than a mail can be on its way and then wait for its outcome to be written. */
const marginSeconds = 180;
const mailableForMs = 24 * 60 * 60 * 1000;
const jobsAtOnce = 20;

export type RecoverTools = {
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
export async function recoverStrandedMails({ db, log, pump, settings }: RecoverTools) {
  const failed = { seconds: settings.sendDeadlineSeconds + marginSeconds, atMost: jobsAtOnce };
  for (let jobs = jobsAtOnce; jobs === jobsAtOnce; ) {
    const taken = await inTransaction(db, async (tx) => {
      const found = await listFailedJobs(tx, failed);
      const left = await listLeft(tx, found);
      const ended = await takeUp(tx, left);
      const ids = found.map(({ id }) => id);
      if (ids.length > 0) await removeJobs(tx, ids);
      return { jobs: found.length, left: left.length, ...ended };
    });
    if (taken.left > 0) log.warn({ count: taken.left }, 'mails were left behind');
    for (const mail of taken.unknown) mailed.publish(endedFacts(mail, 'unknown'));
    for (const mail of taken.failed) mailed.publish(endedFacts(mail, 'failed'));
    jobs = taken.jobs;
    if (jobs > 0) pump();
  }
}

const isBegun = ({ status }: LeftMail) => status === 'sending';

/** Gives back the mails that this has ended. */
async function takeUp(tx: Sql, left: readonly LeftMail[]) {
  const notSent = left.flatMap((mail) => {
    const reason = isBegun(mail) ? null : againstSending(mail);
    return reason ? [{ id: mail.id, org_id: mail.org_id, reason }] : [];
  });
  const mailable = left.filter((mail) => !isBegun(mail) && !againstSending(mail));

  const ids = notSent.map(({ id }) => id);
  if (ids.length > 0) await lockMonths(tx, ids);
  const failed = ids.length > 0 ? await cancelLeft(tx, notSent) : [];
  const unknown: EndedMail[] = [];
  for (const [orgId, begun] of byOrganization(left.filter(isBegun))) {
    unknown.push(...(await giveUpBegun(tx, orgId, begun, unknownOutcome)));
  }
  for (const [orgId, again] of byOrganization(mailable)) {
    await enqueue(tx, jobsOf({ orgId, traceparent: null }, again));
  }
  return { failed, unknown };
}

function againstSending({ unsubscribed, closed, claimed_ms_ago }: LeftMail): string | null {
  if (unsubscribed) return 'not sent: the address has unsubscribed meanwhile';
  if (closed) return 'not sent: the survey was closed meanwhile';
  return claimed_ms_ago > mailableForMs ? 'could not be sent within a day' : null;
}

function byOrganization(mails: readonly LeftMail[]): Map<string, string[]> {
  const ids = Map.groupBy(mails, ({ org_id }) => org_id);
  return new Map([...ids].map(([orgId, own]) => [orgId, own.map(({ id }) => id)]));
}
