import { setTimeout as sleep } from 'node:timers/promises';
import { createBatch } from '../lib/async/batch.ts';
import { type Db, isDatabaseAway, isDeadlock, type Sql } from '../lib/db/db.ts';
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
const recordBatch = { most: 100, lingerMs: 20 };

/**
 * Records outcomes in batches, those of each organization in batches of its own: the outcome of one mail does not wait
 * until a hundred of a neighbour's campaign are written.
 */
export function createRecords(db: Db) {
  const byOrganization = new Map<string, { own: OwnRecords; open: number }>();
  return {
    /** Counts a mail as open while the work on it lasts. */
    async open<T>(orgId: string, work: () => Promise<T>): Promise<T> {
      const records = byOrganization.get(orgId) ?? { own: recordsOfOne(db), open: 0 };
      byOrganization.set(orgId, records);
      records.open += 1;
      return await records.own.open(work).finally(() => {
        records.open -= 1;
        if (records.open === 0) byOrganization.delete(orgId);
      });
    },
    /** The outcome of a mail that is open. */
    add: async (row: OutcomeRow) => await byOrganization.get(row.org_id)!.own.add(row),
  };
}

type OwnRecords = ReturnType<typeof recordsOfOne>;

/** A batch does not wait when every open mail is in it. */
function recordsOfOne(db: Db) {
  const rows = createBatch((batch: OutcomeRow[]) => recordOutcomes(db, batch), recordBatch);
  let [mails, waiting] = [0, 0];
  const flushIfAll = () => {
    if (waiting > 0 && waiting === mails) rows.flush();
  };
  return {
    async open<T>(work: () => Promise<T>): Promise<T> {
      mails += 1;
      return await work().finally(() => {
        mails -= 1;
        flushIfAll();
      });
    },
    async add(row: OutcomeRow) {
      waiting += 1;
      const recorded = rows.add(row).finally(() => {
        waiting -= 1;
      });
      flushIfAll();
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
  await retryWhile(passes, () => saveAll(db, outcomes));
  return outcomes.map(() => undefined);
}

/** One statement, unless mails failed: then their months are locked first. */
async function saveAll(db: Db, outcomes: readonly OutcomeRow[]) {
  const failed = outcomes.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return await saveOutcomes(db, outcomes);
  await inTransaction(db, async (tx) => {
    const ids = failed.map(({ id }) => id);
    await Promise.all([lockMonths(tx, ids), saveOutcomes(tx, outcomes)]);
  });
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
): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += retryAfterMs) {
    try {
      return await work();
    } catch (error) {
      if (!passes(error) || waitedMs >= retryForMs) throw error;
      await sleep(retryAfterMs);
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
