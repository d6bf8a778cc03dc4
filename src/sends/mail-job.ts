import { setTimeout as sleep } from 'node:timers/promises';
import { createBatch } from '../lib/async/batch.ts';
import { createFairSlots } from '../lib/async/fair-slots.ts';
import { createTypicalTime } from '../lib/async/typical-time.ts';
import { type Db, isDeadlock } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { inSpan } from '../lib/tracing/spans.ts';
import type { ClaimedMails } from './claimed-mails.ts';
import {
  beginMails,
  type ClaimedMail,
  listBlocked,
  listMailWords,
  listOpenMails,
  type OpenMail,
} from './mail-job.queries.ts';
import type { Mailer } from './mailer.ts';
import { type Beginning, decide, hasBegun, type MailAttempt, toRow } from './outcome.rules.ts';
import { createRecords, giveUp, publishAttempt, retryWhile } from './record.ts';
import type { SendProgress } from './send-progress.ts';
import { mailEnd, mailSpan } from './spans.ts';

export type MailJobTools = {
  db: Db;
  log: Log;
  mailer: Mailer;
  progress: Pick<SendProgress, 'notify'>;
  /** Those of this process, if it takes requests. */
  claimedMails?: Pick<ClaimedMails, 'take'>;
  settings: { sendDeadlineSeconds: number };
};

export type MailJobs = ReturnType<typeof createMailJobs>;

/** The time for mails ends this long before that of the request which waits for them. */
const marginMs = 1000;

/**
 * Jobs send the mails that requests have claimed: load, begin, mail, decide, record. The jobs of a process
 * share its connections, which organizations use in turn. Mails are marked as begun in batches, and their
 * outcomes are recorded in batches: while one is written the next one fills.
 */
export function createMailJobs(tools: MailJobTools) {
  const { db, log, mailer, progress, settings } = tools;
  const slots = createFairSlots({ total: mailer.concurrency, reserve: 0 });
  const attempts = createAttempts({ db, mailer });
  const records = createRecords(db);

  /**
   * Sends every mail of a job that may still go out. It ends when all of them have an outcome: another run
   * of the job gives up what it finds begun.
   */
  async function run(orgId: string, ids: readonly string[], traceparent: string | null = null) {
    const { mails, requestIds } = await load(tools, orgId, ids);
    const time = timeFor(mails, settings.sendDeadlineSeconds * 1000);
    try {
      const ends = await Promise.allSettled(
        mails.map((mail) => records.open(() => send(mail, time, traceparent))),
      );
      const withdrawn = ends.flatMap((end) => (end.status === 'fulfilled' && end.value) || []);
      // A dead process may have begun them with its last statement, which no other job looks after.
      if (withdrawn.length > 0) await giveUp(db, orgId, withdrawn);
      const failure = ends.find(({ status }) => status === 'rejected');
      if (failure) throw (failure as PromiseRejectedResult).reason;
    } finally {
      await progress
        .notify(requestIds)
        .catch((err: unknown) => log.warn({ err }, 'could not notify the waiting request'));
    }
  }

  /** Tries a mail until it has an outcome. Returns its id if it was withdrawn. */
  async function send(mail: ClaimedMail, time: MailTime, job: string | null) {
    const claimedAt = performance.now() - mail.claimed_ms_ago;
    for (let tries = mail.attempts + 1, attempt = mail.attempts; ; tries++) {
      const tried = await slots.run(mail.org_id, () =>
        attempts.tryInSpan(mail, { attempt: tries, time, job }),
      );
      const { beginning, ms, traceparent } = tried;
      if (beginning === 'withdrawn') return mail.id;
      if (hasBegun(beginning)) attempt = beginning.attempt;
      const decision = decide(tried, { tries, remainingMs: time.endsAt - performance.now() });
      // A mail that did not begin and is tried again is still claimed, as its row says.
      if (hasBegun(beginning) || decision.status !== 'retry') {
        await records.add(toRow({ ...mail, attempt }, decision));
      }
      if (decision.status === 'blocked') return null;
      const sinceMs = performance.now() - claimedAt;
      publishAttempt(mail, decision, { attempt: tries, ms, sinceMs, traceparent });
      if (decision.status !== 'retry') return null;
      await sleep(decision.inMs);
    }
  }

  return { run };
}

/** Tries one mail once. */
function createAttempts({ db, mailer }: Pick<MailJobTools, 'db' | 'mailer'>) {
  const beginnings = createBatch(
    (mails: ClaimedMail[]) => retryWhile(isDeadlock, () => beginAll(db, mails)),
    { most: 200 },
  );
  const exchange = createTypicalTime();

  /** The span belongs to the job's trace, or to that of the request if the job has none. */
  async function tryInSpan(mail: ClaimedMail, { attempt, time, job }: Try) {
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

type MailTime = { endsAt: number; longestMs: number; signal: AbortSignal };
type Try = { attempt: number; time: MailTime; job: string | null };

/** The mails of a job that may still go out, and the requests that wait for any of its mails. */
async function load({ db, claimedMails }: MailJobTools, orgId: string, ids: readonly string[]) {
  const open = claimedMails?.take(ids) ?? (await listOpenMails(db, orgId, ids));
  if (open.some(({ status }) => status === 'sending')) await giveUp(db, orgId, ids);
  const claimed = open.filter(({ status }) => status === 'claimed');
  const requestIds = open.map(({ request_id }) => request_id);
  return { mails: await addWords(db, orgId, claimed), requestIds };
}

/** Mails of one survey share its words, as one object. */
async function addWords(db: Db, orgId: string, mails: readonly OpenMail[]) {
  const surveyIds = [...new Set(mails.map(({ survey_id }) => survey_id))];
  const words = surveyIds.length > 0 ? await listMailWords(db, orgId, surveyIds) : [];
  const bySurvey = new Map(words.map(({ survey_id, ...each }) => [survey_id, each]));
  return mails.flatMap((mail): ClaimedMail[] => {
    const own = bySurvey.get(mail.survey_id);
    return own ? [{ ...mail, ...own }] : [];
  });
}

/** Marks mails as begun and says of each whether it may leave. */
async function beginAll(db: Db, mails: readonly ClaimedMail[]): Promise<Beginning[]> {
  const begun = new Map((await beginMails(db, mails)).map(({ id, attempts }) => [id, attempts]));
  const rest = mails.filter(({ id }) => !begun.has(id));
  const found = rest.length > 0 ? await listBlocked(db, rest) : [];
  const blocked = new Map(found.map(({ id, by }) => [id, by]));
  return mails.map(({ id }) => {
    const [attempt, by] = [begun.get(id), blocked.get(id)];
    if (attempt !== undefined) return { attempt };
    return by ? { blocked: by } : 'withdrawn';
  });
}

/**
 * Mails are tried as long as their request waits. Mails of a request that no longer waits, because its
 * process died, get the whole time again.
 */
function timeFor(mails: readonly ClaimedMail[], deadlineMs: number): MailTime {
  const agoMs = Math.min(...mails.map(({ claimed_ms_ago }) => claimed_ms_ago), deadlineMs);
  const remainingMs = agoMs < deadlineMs ? deadlineMs - agoMs : deadlineMs;
  const ms = Math.max(remainingMs - marginMs, remainingMs / 2);
  const signal = AbortSignal.timeout(Math.ceil(ms));
  return { endsAt: performance.now() + ms, longestMs: deadlineMs / 2, signal };
}

/** The word for an attempt in its span. */
function spanOutcome({ beginning, outcome }: MailAttempt): string {
  if (beginning !== undefined && !hasBegun(beginning)) return 'withdrawn';
  if (outcome.kind === 'refused') return outcome.permanent ? 'permanent' : 'transient';
  return outcome.kind === 'lost' ? 'transient' : outcome.kind;
}
