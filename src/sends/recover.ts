import { enqueue } from '../jobs.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { mailJobs, publishEnded } from './mail-job.ts';
import {
  cancelStranded,
  completeJobs,
  type EndedMail,
  listFailedJobs,
  listStranded,
  lockMonths,
  markBegunUnknown,
  type StrandedMail,
} from './queries.ts';
import { maxMailAgeMs, unknownOutcome } from './rules.ts';

/** An email in flight ends, and its outcome is recorded, within this time. */
const marginSeconds = 180;
const jobsAtOnce = 20;

export type RecoverTools = { db: Db; log: Log; settings: { sendDeadlineSeconds: number } };

/**
 * Recovers emails without an outcome whose job has used up its attempts. An email that has not begun gets a new job
 * while it is younger than a day. An email that has begun becomes unknown. No email is sent twice, because only one
 * process can turn an email from claimed to sending.
 */
export async function recoverStrandedMails({ db, log, settings }: RecoverTools) {
  const failed = { seconds: settings.sendDeadlineSeconds + marginSeconds, atMost: jobsAtOnce };
  for (let jobs = jobsAtOnce; jobs === jobsAtOnce; ) {
    const batch = await inTransaction(db, async (tx) => {
      const jobs = await listFailedJobs(tx, failed);
      const stranded = await listStranded(tx, jobs);
      const ended = await recover(tx, stranded);
      const ids = jobs.map(({ id }) => id);
      await completeJobs(tx, ids);
      return { jobs: jobs.length, stranded: stranded.length, ...ended };
    });
    if (batch.stranded > 0) log.warn({ count: batch.stranded }, 'recovered emails of failed jobs');
    for (const mail of batch.unknown) publishEnded(mail, 'unknown');
    for (const mail of batch.failed) publishEnded(mail, 'failed');
    jobs = batch.jobs;
  }
}

async function recover(tx: Sql, stranded: readonly StrandedMail[]) {
  const { sending = [], claimed = [] } = Object.groupBy(stranded, ({ status }) => status);
  const notSent = claimed.flatMap((mail) => {
    const reason = reasonNotToSend(mail);
    return reason ? [{ id: mail.id, org_id: mail.org_id, reason }] : [];
  });
  await lockMonths(
    tx,
    notSent.map(({ id }) => id),
  );
  const failed = await cancelStranded(tx, notSent);
  const unknown: EndedMail[] = [];
  for (const [orgId, ids] of byOrganization(sending)) {
    unknown.push(...(await markBegunUnknown(tx, orgId, ids, unknownOutcome)));
  }
  const mailable = claimed.filter((mail) => !reasonNotToSend(mail));
  for (const [orgId, ids] of byOrganization(mailable)) {
    await enqueue(tx, mailJobs({ orgId, traceparent: null }, ids));
  }
  return { failed, unknown };
}

function reasonNotToSend({ unsubscribed, closed, claimed_ms_ago }: StrandedMail): string | null {
  if (unsubscribed) return 'not sent: the address has unsubscribed';
  if (closed) return 'not sent: the survey was closed';
  return claimed_ms_ago > maxMailAgeMs ? 'could not be sent within a day' : null;
}

function byOrganization(mails: readonly StrandedMail[]): Map<string, string[]> {
  const ids = Map.groupBy(mails, ({ org_id }) => org_id);
  return new Map([...ids].map(([orgId, mailsOfOrg]) => [orgId, mailsOfOrg.map(({ id }) => id)]));
}
