import { setTimeout as sleep } from 'node:timers/promises';
import { createBatchByKey } from '../lib/async/batch-by-key.ts';
import { type Db, isDatabaseAway, isDeadlock, type Sql } from '../lib/db/db.ts';
import { ofGroup } from '../lib/db/fair-pool.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { mailed } from '../signals.ts';
import type { ClaimedMail } from './mail-job.queries.ts';
import { type MailDecision, type OutcomeRow, outcomeWord } from './outcome.rules.ts';
import {
  type EndedMail,
  giveUpBegun,
  giveUpOpenMails,
  lockMonths,
  saveOutcomes,
} from './record.queries.ts';
import { unknownOutcome } from './rules.ts';

const retryAfterMs = 250;
const retryForMs = 60_000;
/** A batch of mails of several organizations waits no longer for a lock: then they are written apart. */
export const sharedLockMs = 200;
export const batchesAtOnce = 2;
const recordBatch = { most: 100, atOnce: batchesAtOnce, lingerMs: 20 };

/**
 * Records outcomes in batches, in which each organization has its share: the outcome of one mail does not wait until
 * hundreds of a neighbour's campaign are written. A batch does not wait for more when every open mail of one of its
 * organizations is in it.
 */
export function createRecords(db: Db) {
  const byOrganization = new Map<string, { open: number; waiting: number }>();
  const rows = createBatchByKey<OutcomeRow, void>(
    {
      keyOf: ({ org_id }) => org_id,
      writeShared: (batch) => saveAll(db, batch, sharedLockMs),
      writeOwn: (batch) => recordOutcomes(ofGroup(db, batch[0]!.org_id), batch),
    },
    recordBatch,
  );
  const flushIfAll = (orgId: string, { open, waiting }: { open: number; waiting: number }) => {
    if (waiting === open) rows.flush(orgId);
  };

  return {
    /** Counts a mail as open while the work on it lasts. */
    async open<T>(orgId: string, work: () => Promise<T>): Promise<T> {
      const mails = byOrganization.get(orgId) ?? { open: 0, waiting: 0 };
      byOrganization.set(orgId, mails);
      mails.open += 1;
      return await work().finally(() => {
        mails.open -= 1;
        if (mails.open === 0) byOrganization.delete(orgId);
        flushIfAll(orgId, mails);
      });
    },
    /** The outcome of a mail that is open. */
    async add(row: OutcomeRow) {
      const mails = byOrganization.get(row.org_id)!;
      mails.waiting += 1;
      const recorded = rows.add(row).finally(() => {
        mails.waiting -= 1;
      });
      flushIfAll(row.org_id, mails);
      await recorded;
    },
  };
}

/**
 * Records outcomes of many mails at once. An outcome must not get lost while Postgres is away or other
 * transactions are in the way.
 */
async function recordOutcomes(db: Db, outcomes: readonly OutcomeRow[]) {
  const passes = (error: unknown) => isDatabaseAway(error) || isDeadlock(error);
  return await retryWhile(passes, () => saveAll(db, outcomes));
}

/** One statement, unless mails failed: then their months are locked first. */
async function saveAll(db: Db, outcomes: readonly OutcomeRow[], lockMs?: number) {
  const failed = outcomes.filter(({ status }) => status === 'failed').map(({ id }) => id);
  if (failed.length === 0) await saveOutcomes(db, outcomes, lockMs);
  else {
    await inTransaction(db, async (tx) => {
      await Promise.all([lockMonths(tx, failed, lockMs), saveOutcomes(tx, outcomes, lockMs)]);
    });
  }
  return outcomes.map(() => undefined);
}

/** The outcome of a mail that was in flight when its process died is unknown. */
export async function giveUp(db: Db, orgId: string, ids: readonly string[]) {
  const begun = await giveUpBegun(db, orgId, ids, unknownOutcome);
  for (const mail of begun) publishEnded(mail, 'unknown');
}

/** A mail without an outcome when the backup was made may have been sent since. */
export const giveUpAfterRestore = (tx: Sql) =>
  giveUpOpenMails(
    tx,
    'restored from a backup: whether it was sent after the backup is unknown, so it is not sent again',
  );

export async function retryWhile<T>(
  passes: (error: unknown) => boolean,
  work: () => Promise<T>,
  wait: (ms: number) => Promise<unknown> = sleep,
): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += retryAfterMs) {
    try {
      return await work();
    } catch (error) {
      if (!passes(error) || waitedMs >= retryForMs) throw error;
      await wait(retryAfterMs);
    }
  }
}

type Facts = { attempt: number; ms: number; sinceMs: number; traceparent: string | null };

/** Publishes an attempt after it was recorded. */
export function publishAttempt(mail: ClaimedMail, decision: MailDecision, facts: Facts) {
  const { id: sendId, org_id: orgId, survey_id: surveyId } = mail;
  mailed.publish({ sendId, orgId, surveyId, ...facts, outcome: outcomeWord(decision) });
}

/** Publishes a mail that ended without an attempt: given up after a crash, or cancelled. */
export function publishEnded(mail: EndedMail, outcome: 'unknown' | 'failed') {
  const { id: sendId, org_id: orgId, survey_id: surveyId, attempts: attempt, traceparent } = mail;
  const sinceMs = mail.claimed_ms_ago;
  mailed.publish({ sendId, orgId, surveyId, attempt, outcome, ms: null, sinceMs, traceparent });
}
