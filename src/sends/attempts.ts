import { createBatchByKey } from '../lib/async/batch-by-key.ts';
import { createTypicalTime } from '../lib/async/typical-time.ts';
import { type Db, isDeadlock } from '../lib/db/db.ts';
import { ofGroup } from '../lib/db/fair-pool.ts';
import { inSpan } from '../lib/tracing/spans.ts';
import { beginMails, type ClaimedMail, listBlocked } from './mail-job.queries.ts';
import type { Mailer } from './mailer.ts';
import { type Beginning, hasBegun, type MailAttempt } from './outcome.rules.ts';
import { batchesAtOnce, retryWhile, sharedLockMs } from './record.ts';
import { mailEnd, mailSpan } from './spans.ts';

export type MailTime = { endsAt: number; longestMs: number; signal: AbortSignal };

export type MailTry = { attempt: number; time: MailTime; job: string | null };

/** Tries one mail once. */
export function createAttempts({ db, mailer }: { db: Db; mailer: Mailer }) {
  const beginnings = createBatchByKey<ClaimedMail, Beginning>(
    {
      keyOf: ({ org_id }) => org_id,
      writeShared: (mails) => beginAll(db, mails, sharedLockMs),
      writeOwn: (mails) =>
        retryWhile(isDeadlock, () => beginAll(ofGroup(db, mails[0]!.org_id), mails)),
    },
    { most: 200, atOnce: batchesAtOnce },
  );
  const exchange = createTypicalTime();

  /** The span belongs to the job's trace, or to that of the request if the job has none. */
  async function tryInSpan(mail: ClaimedMail, { attempt, time, job }: MailTry) {
    const { id: sendId, survey_id: surveyId, traceparent, claimed_ms_ago: agoMs } = mail;
    return await inSpan(
      job === null ? { traceparent, agoMs } : { traceparent: job, agoMs: 0 },
      () => mailSpan(mailer.server ?? null, { sendId, surveyId, attempt }),
      async (own) => {
        const tried = await tryOnce(mail, time);
        own.ended(() => mailEnd(spanOutcome(tried)));
        return { ...tried, traceparent: own.traceparent };
      },
    );
  }

  async function tryOnce(mail: ClaimedMail, { endsAt, longestMs, signal }: MailTime) {
    const startedAt = performance.now();
    let beginning: Beginning | undefined;
    let leftAt = startedAt;
    /** A mail that would probably not end in time must not begin: its outcome would be unknown. */
    const mayLeave = async () => {
      const remainingMs = endsAt - performance.now();
      const isLate = remainingMs < Math.min(exchange.ms(), longestMs);
      beginning = isLate ? 'late' : await beginnings.add(mail);
      leftAt = performance.now();
      return hasBegun(beginning);
    };
    const outcome = await mailer.send(mail, { signal, mayLeave });
    const endedAt = performance.now();
    if (hasBegun(beginning)) exchange.add(endedAt - leftAt);
    return { outcome, beginning, ms: endedAt - startedAt };
  }

  return { tryInSpan };
}

/** Marks mails as begun and says of each whether it may leave. */
async function beginAll(
  db: Db,
  mails: readonly ClaimedMail[],
  lockMs?: number,
): Promise<Beginning[]> {
  const marked = await beginMails(db, mails, lockMs);
  const begun = new Map(marked.map(({ id, attempts }) => [id, attempts]));
  const rest = mails.filter(({ id }) => !begun.has(id));
  const found = rest.length > 0 ? await listBlocked(db, rest) : [];
  const blocked = new Map(found.map(({ id, by }) => [id, by]));
  return mails.map(({ id }) => {
    const [attempt, by] = [begun.get(id), blocked.get(id)];
    if (attempt !== undefined) return { attempt };
    return by ? { blocked: by } : 'withdrawn';
  });
}

/** The word for an attempt in its span. */
function spanOutcome({ beginning, outcome }: MailAttempt): string {
  if (beginning !== undefined && !hasBegun(beginning)) return 'withdrawn';
  if (outcome.kind === 'refused') return outcome.permanent ? 'permanent' : 'transient';
  return outcome.kind === 'lost' ? 'transient' : outcome.kind;
}
