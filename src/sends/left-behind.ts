import { mailed } from '../happenings.ts';
import type { Db } from '../platform/db.ts';
import type { Log } from '../platform/log.ts';
import { enqueue } from '../platform/outbox.ts';
import { jobsOf } from './claim.ts';
import { cancelLeft, type LeftMail, listLeft } from './left-behind.queries.ts';
import { giveUpBegun, lockMonths } from './mailing.queries.ts';
import { unknownOutcome } from './rules.ts';

/** Longer than a mail can be on its way and then wait for its outcome to be written. */
const marginSeconds = 180;
const mailableForMs = 24 * 60 * 60 * 1000;
const takenAtOnce = 1000;

export type LeftBehindTools = {
  db: Db;
  log: Log;
  pump: () => void;
  settings: { sendDeadlineSeconds: number };
};

/**
 * Finds mails without an outcome whose job is gone: it failed too often, or ended while the last words
 * of a dead process were still being written. A mail that nobody has begun gets a new job, as long as it
 * is worth being read; of one that was begun nobody will ever know. None goes out twice: whoever wants to
 * send one has to turn it from claimed to sending, and only one can.
 */
export async function takeUpLeft({ db, log, pump, settings }: LeftBehindTools) {
  const seconds = settings.sendDeadlineSeconds + marginSeconds;
  let taken = 0;
  do {
    const left = await listLeft(db, { seconds, atMost: takenAtOnce });
    taken = left.length;
    if (taken === 0) return;
    log.warn(`${taken} mails were left behind without a job`);
    await takeUp(db, left);
    pump();
  } while (taken === takenAtOnce);
}

async function takeUp(db: Db, left: readonly LeftMail[]) {
  const begun = left.filter(({ status }) => status === 'sending');
  const waiting = left.filter(({ status }) => status === 'claimed');
  const notSent = waiting.flatMap((mail) => {
    const reason = againstSending(mail);
    return reason ? [{ id: mail.id, org_id: mail.org_id, reason }] : [];
  });
  const mailable = waiting.filter((mail) => !againstSending(mail));

  for (const [orgId, ids] of byOrganization(begun)) {
    await giveUpBegun(db, orgId, ids, unknownOutcome);
  }
  for (const mail of begun) mailed.tell(givenUp(mail));
  if (notSent.length > 0) {
    await db.begin(async (tx) => {
      const ids = notSent.map(({ id }) => id);
      await Promise.all([lockMonths(tx, ids), cancelLeft(tx, notSent)]);
    });
  }
  const jobs = [...byOrganization(mailable)].flatMap(([orgId, ids]) => jobsOf({ orgId, traceparent: null }, ids));
  await enqueue(db, jobs);
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

const givenUp = (mail: LeftMail) => ({
  ...{ orgId: mail.org_id, surveyId: mail.survey_id, sendId: mail.id },
  ...{ attempt: mail.attempts, outcome: 'unknown' as const, traceparent: mail.traceparent },
  ...{ ms: mail.sending_ms_ago ?? 0, sinceMs: mail.claimed_ms_ago },
});
