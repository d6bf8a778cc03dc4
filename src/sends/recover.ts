import { enqueue } from '../jobs.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { jobsOf, publishEnded } from './mail-job.ts';
import {
  cancelStranded,
  type EndedMail,
  giveUpBegun,
  listFailedJobs,
  listStranded,
  lockMonths,
  removeJobs,
  type StrandedMail,
} from './queries.ts';
import { mailableForMs, unknownOutcome } from './rules.ts';

/** Longer than a mail can be in flight and then wait for its outcome to be recorded. */
const marginSeconds = 180;
const jobsAtOnce = 20;

export type RecoverTools = {
  db: Db;
  log: Log;
  settings: { sendDeadlineSeconds: number };
};

/**
 * Recovers mails without an outcome whose job has failed for the last time. A mail that has not begun gets
 * a new job while it is young enough to be worth reading; the outcome of one that had begun is unknown.
 * None goes out twice: to send a mail a process must turn it from claimed to sending, and only one can.
 */
export async function recoverStrandedMails({ db, log, settings }: RecoverTools) {
  const failed = { seconds: settings.sendDeadlineSeconds + marginSeconds, atMost: jobsAtOnce };
  for (let jobs = jobsAtOnce; jobs === jobsAtOnce; ) {
    const taken = await inTransaction(db, async (tx) => {
      const found = await listFailedJobs(tx, failed);
      const stranded = await listStranded(tx, found);
      const ended = await recover(tx, stranded);
      const ids = found.map(({ id }) => id);
      if (ids.length > 0) await removeJobs(tx, ids);
      return { jobs: found.length, stranded: stranded.length, ...ended };
    });
    if (taken.stranded > 0) log.warn({ count: taken.stranded }, 'mails were stranded');
    for (const mail of taken.unknown) publishEnded(mail, 'unknown');
    for (const mail of taken.failed) publishEnded(mail, 'failed');
    jobs = taken.jobs;
  }
}

const isBegun = ({ status }: StrandedMail) => status === 'sending';

async function recover(tx: Sql, stranded: readonly StrandedMail[]) {
  const notSent = stranded.flatMap((mail) => {
    const reason = isBegun(mail) ? null : againstSending(mail);
    return reason ? [{ id: mail.id, org_id: mail.org_id, reason }] : [];
  });
  const mailable = stranded.filter((mail) => !isBegun(mail) && !againstSending(mail));

  const ids = notSent.map(({ id }) => id);
  if (ids.length > 0) await lockMonths(tx, ids);
  const failed = ids.length > 0 ? await cancelStranded(tx, notSent) : [];
  const unknown: EndedMail[] = [];
  for (const [orgId, begun] of byOrganization(stranded.filter(isBegun))) {
    unknown.push(...(await giveUpBegun(tx, orgId, begun, unknownOutcome)));
  }
  for (const [orgId, again] of byOrganization(mailable)) {
    await enqueue(tx, jobsOf({ orgId, traceparent: null }, again));
  }
  return { failed, unknown };
}

function againstSending({ unsubscribed, closed, claimed_ms_ago }: StrandedMail): string | null {
  if (unsubscribed) return 'not sent: the address has unsubscribed meanwhile';
  if (closed) return 'not sent: the survey was closed meanwhile';
  return claimed_ms_ago > mailableForMs ? 'could not be sent within a day' : null;
}

function byOrganization(mails: readonly StrandedMail[]): Map<string, string[]> {
  const ids = Map.groupBy(mails, ({ org_id }) => org_id);
  return new Map([...ids].map(([orgId, own]) => [orgId, own.map(({ id }) => id)]));
}
