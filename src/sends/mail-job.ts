import { setTimeout as sleep } from 'node:timers/promises';
import { SpanKind } from '@opentelemetry/api';
import { enqueue, type NewJob } from '../jobs.ts';
import {
  inLanguage,
  mailFillings,
  messageIdOf,
  type ReplyMail,
  replyMail,
  type SurveyMail,
  surveyMail,
} from '../letters/letter.ts';
import { createBatch } from '../lib/async/batch.ts';
import { createSemaphore } from '../lib/async/semaphore.ts';
import { type Db, inTransaction, isDatabaseAway, isDeadlock, type Sql } from '../lib/db/db.ts';
import { poolForGroup } from '../lib/db/fair-pool.ts';
import type { Log } from '../lib/log/log.ts';
import { mailableAddress } from '../lib/smtp/address.ts';
import { type MailOutcome, rejectAddress } from '../lib/smtp/connection.ts';
import type { DkimSigner } from '../lib/smtp/dkim.ts';
import { compose } from '../lib/smtp/message.ts';
import type { MailTransport, SendOptions } from '../lib/smtp/smtp.ts';
import { errorType, inSpan } from '../lib/tracing/spans.ts';
import { mailed } from '../signals.ts';
import { languageFor } from '../surveys/texts.ts';
import {
  beginMails,
  type ClaimedMail,
  type EndedMail,
  listBlocked,
  listMailContents,
  listOpenMails,
  lockMonths,
  markBegunUnknown,
  markOpenUnknown,
  saveDeferralReason,
  saveOutcomes,
  type WrittenMail,
} from './queries.ts';
import {
  type Beginning,
  createRefusalWatch,
  decide,
  deferralMs,
  hasBegun,
  type MailAttempt,
  type MailDecision,
  mailTime,
  type OutcomeRow,
  outcomeWord,
  reasonForAll,
  toRow,
  unknownOutcome,
} from './rules.ts';

const mailsPerJob = 1000;
const retryAfterMs = 250;
const retryForMs = 60_000;
/**
 * Lock timeout of a batch that several organizations share. After the timeout, each organization gets its own
 * statement.
 */
const sharedLockMs = 200;
const maxBatches = 2;
const recordBatch = { maxItems: 100, concurrency: maxBatches, lingerMs: 20 };

export type MailJobs = ReturnType<typeof createMailJobs>;

/**
 * Runs the jobs that send claimed emails: load, begin, send, decide, record. The jobs of a process share its
 * connections, which organizations use in turn. Starts and outcomes are written in batches, and the next batch
 * fills while one is written.
 */
export function createMailJobs({
  db,
  log,
  mailer,
  progress,
  settings,
  pauseCampaign = async () => false,
}: {
  db: Db;
  log: Log;
  mailer: Mailer;
  progress: { notify: (requestIds: readonly string[]) => Promise<void> };
  settings: { sendDeadlineSeconds: number };
  /**
   * Called when the mail server refuses every email of a request. Returns true if the emails belong to a campaign,
   * which is now paused.
   */
  pauseCampaign?: (orgId: string, batch: { id: string; reason: string }) => Promise<boolean>;
}) {
  const slots = createSemaphore({ slots: mailer.concurrency });
  const attempts = createAttempts({ db, mailer });
  const records = createRecorder(db);
  const refusesAll = createRefusalWatch();

  /**
   * Sends the emails of a job that have no outcome yet. Returns after the last outcome, because another run of the job
   * would mark emails that have begun as unknown. `stuckSince` is when runs of the job began to defer all of its
   * emails.
   */
  async function run(
    orgId: string,
    ids: readonly string[],
    traceparent: string | null = null,
    stuckSince: string | null = null,
  ) {
    const orgDb = poolForGroup(db, orgId);
    const { mails, requestIds } = await load(orgDb, orgId, ids);
    const ms = mailTime(mails, settings.sendDeadlineSeconds * 1000);
    const signal = AbortSignal.timeout(Math.ceil(ms));
    const time = { endsAt: performance.now() + ms, maxExchangeMs: ms / 2, signal };
    const refused: RefusedSurveys = new Map();
    const job = { time, refused, traceparent };
    try {
      const ends = await Promise.allSettled(mails.map((mail) => send(mail, job)));
      const ended = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
      const withdrawn = idsOf(ended, 'withdrawn');
      // A crashed process may have begun these emails, and no other job handles them.
      if (withdrawn.length > 0) await markUnknown(orgDb, orgId, withdrawn);
      const failure = ends.find(({ status }) => status === 'rejected');
      const delayed = new Set(idsOf(ended, 'deferred'));
      const isStuck = delayed.size === mails.length;
      const waiting = mails.filter(({ id }) => delayed.has(id));
      const deferred = await withoutPaused(orgId, waiting, refused);
      if (deferred.length > 0) {
        const reason = ended.findLast(({ as }) => as === 'deferred')?.reason ?? null;
        await deferMails(orgDb, orgId, { mails: deferred, reason, isStuck, stuckSince });
      }
      if (failure) throw (failure as PromiseRejectedResult).reason;
    } finally {
      await progress
        .notify(requestIds)
        .catch((err: unknown) => log.warn({ err }, 'cannot notify the waiting request'));
    }
  }

  /** Tries an email until it has an outcome, is withdrawn or is deferred. */
  async function send(
    mail: ClaimedMail,
    { time, refused, traceparent: job }: MailJob,
  ): Promise<MailEnd> {
    const claimedAt = performance.now() - mail.claimed_ms_ago;
    for (let tries = mail.attempts + 1, attempt = mail.attempts; ; tries++) {
      // Skip the attempt if the server refuses the whole survey: servers block clients that fail too often.
      const tried = await slots.run<Tried>(
        mail.org_id,
        async () =>
          refused.get(mail.survey_id) ??
          (await attempts.tryInSpan(mail, { attempt: tries, time, job })),
      );
      const { beginning, ms, traceparent } = tried;
      if (beginning === 'withdrawn') return { id: mail.id, as: 'withdrawn' };
      if (hasBegun(beginning)) attempt = beginning.attempt;
      const now = performance.now();
      const ageMs = mail.awaited ? null : now - claimedAt;
      const isUntried = tried === refused.get(mail.survey_id);
      const isForAll = isUntried || refusesAll(mail, tried.outcome);
      if (isForAll && !isUntried) {
        refused.set(mail.survey_id, { ...tried, beginning: undefined, ms: null });
      }
      const remainingMs = time.endsAt - now;
      const triesOfJob = tries - mail.attempts;
      const decision = decide(tried, {
        tries,
        triesOfJob,
        remainingMs,
        ageMs,
        refusesAll: isForAll,
      });
      // The row of an email that has not begun is still claimed, so a retry needs no record.
      if (hasBegun(beginning) || !isTriedAgain(decision)) {
        await records.add(toRow({ ...mail, attempt }, decision));
      }
      if (decision.status === 'blocked') return { id: mail.id, as: 'blocked' };
      if (isUntried && decision.status === 'deferred') {
        return { id: mail.id, as: 'deferred', reason: decision.reason };
      }
      const sinceMs = performance.now() - claimedAt;
      mailed.publish({
        sendId: mail.id,
        orgId: mail.org_id,
        surveyId: mail.survey_id,
        attempt: tries,
        outcome: outcomeWord(decision),
        ms,
        sinceMs,
        traceparent,
      });
      if (decision.status !== 'retry') {
        const reason = decision.status === 'deferred' ? decision.reason : null;
        return { id: mail.id, as: decision.status, reason };
      }
      await sleep(decision.inMs);
    }
  }

  /** Pauses campaigns whose emails the server refuses, and returns the emails of all others. */
  async function withoutPaused(
    orgId: string,
    mails: readonly ClaimedMail[],
    refused: RefusedSurveys,
  ) {
    const paused = new Map<string, boolean>();
    for (const { request_id: id, survey_id } of mails) {
      const outcome = refused.get(survey_id)?.outcome;
      if (!outcome || paused.has(id)) continue;
      paused.set(id, await pauseCampaign(orgId, { id, reason: reasonForAll(outcome) }));
    }
    return mails.filter(({ request_id }) => !paused.get(request_id));
  }

  return { run };
}

type MailEnd = {
  id: string;
  as: MailDecision['status'] | 'withdrawn';
  reason?: string | null;
};
type Tried = MailAttempt & { ms: number | null; traceparent: string | null };
/** Surveys that the server refuses as a whole, each with the attempt that revealed the refusal. */
type RefusedSurveys = Map<string, Tried>;
type MailJob = { time: MailTime; refused: RefusedSurveys; traceparent: string | null };

const idsOf = (mails: readonly MailEnd[], end: MailEnd['as']) =>
  mails.filter(({ as }) => as === end).map(({ id }) => id);

const isTriedAgain = ({ status }: MailDecision) => status === 'retry' || status === 'deferred';

type Deferral = {
  mails: readonly ClaimedMail[];
  reason: string | null;
  /** True if the job deferred all of its emails. */
  isStuck: boolean;
  stuckSince: string | null;
};

/** Enqueues another job for deferred emails. The delay grows only while the server accepts none of them. */
async function deferMails(db: Db, orgId: string, { mails, reason, isStuck, stuckSince }: Deferral) {
  const ids = mails.map(({ id }) => id);
  const ageMs = isStuck ? mails[0]!.claimed_ms_ago : 0; // mails of a job were claimed together
  const now = Date.now();
  const stuck_since = isStuck ? (stuckSince ?? new Date(now).toISOString()) : null;
  if (isStuck && reason) await saveDeferralReason(db, orgId, { ids, reason });
  const jobs = mailJobs({ orgId, traceparent: null, stuck_since }, ids);
  const runAt = new Date(now + deferralMs(ageMs));
  await enqueue(
    db,
    jobs.map((job) => ({ ...job, runAt })),
  );
}

/** Loads the emails that a job may still send, and the requests that wait for the job. */
async function load(db: Db, orgId: string, ids: readonly string[]) {
  const open = await listOpenMails(db, orgId, ids);
  if (open.some(({ status }) => status === 'sending')) await markUnknown(db, orgId, ids);
  const surveyIds = [...new Set(open.map(({ survey_id }) => survey_id))];
  const words = surveyIds.length > 0 ? await listMailContents(db, orgId, surveyIds) : [];
  const bySurvey = new Map(words.map((each) => [each.survey.id, each]));
  const mails = open.flatMap((mail): ClaimedMail[] => {
    const content = bySurvey.get(mail.survey_id);
    return content && mail.status === 'claimed' ? [{ ...mail, ...content }] : [];
  });
  const requestIds = open.filter(({ awaited }) => awaited).map(({ request_id }) => request_id);
  return { mails, requestIds };
}

type MailTime = { endsAt: number; maxExchangeMs: number; signal: AbortSignal };

export function createAttempts({ db, mailer }: { db: Db; mailer: Mailer }) {
  const beginnings = createBatch<ClaimedMail, Beginning>(
    {
      keyOf: ({ org_id }) => org_id,
      write: (mails) => beginAll(db, mails, sharedLockMs),
      writeKey: (mails) =>
        retryWhile(isDeadlock, () => beginAll(poolForGroup(db, mails[0]!.org_id), mails)),
    },
    { maxItems: 200, concurrency: maxBatches },
  );
  /** Duration of the slowest recent SMTP exchange. */
  let exchangeMs = 0;

  /** Opens the span in the job's trace, or else in the request's. */
  async function tryInSpan(
    mail: ClaimedMail,
    { attempt, time, job }: { attempt: number; time: MailTime; job: string | null },
  ) {
    const { id: sendId, survey_id: surveyId, traceparent, claimed_ms_ago: agoMs } = mail;
    return await inSpan(
      job === null ? { traceparent, agoMs } : { traceparent: job, agoMs: 0 },
      () => ({
        name: 'send mail',
        kind: SpanKind.CLIENT,
        attributes: {
          ...(mailer.server && {
            'server.address': mailer.server.host,
            'server.port': mailer.server.port,
            'network.protocol.name': 'smtp',
          }),
          'askback.survey.id': surveyId,
          'askback.send.id': sendId,
          'askback.send.attempt': attempt,
        },
      }),
      async (span) => {
        const tried = await tryOnce(mail, time);
        span.ended(() => {
          const outcome = spanOutcome(tried);
          const failed = outcome !== 'accepted' && outcome !== 'withdrawn';
          const error = failed ? { [errorType]: outcome } : {};
          return { attributes: { 'askback.send.outcome': outcome, ...error }, failed };
        });
        return { ...tried, traceparent: span.traceparent };
      },
    );
  }

  async function tryOnce(mail: ClaimedMail, { endsAt, maxExchangeMs, signal }: MailTime) {
    const startedAt = performance.now();
    let beginning: Beginning | undefined;
    let leftAt = startedAt;
    /** Refuses to begin an email that would probably miss the deadline: its outcome would be unknown. */
    const mayLeave = async () => {
      const isLate = endsAt - performance.now() < Math.min(exchangeMs, maxExchangeMs);
      beginning = isLate ? 'late' : await beginnings.add(mail);
      leftAt = performance.now();
      return hasBegun(beginning);
    };
    const outcome = await mailer.send(mail, { signal, mayLeave });
    const endedAt = performance.now();
    if (hasBegun(beginning)) exchangeMs = Math.max(endedAt - leftAt, exchangeMs * 0.9);
    return { outcome, beginning, ms: endedAt - startedAt };
  }

  return { tryInSpan };
}

/** Marks emails as begun, and returns for each one whether it may be sent. */
async function beginAll(
  db: Db,
  mails: readonly ClaimedMail[],
  lockMs?: number,
): Promise<Beginning[]> {
  const marked = await beginMails(db, mails, lockMs);
  const begun = new Map(marked.map(({ id, attempts }) => [id, attempts]));
  const notBegun = mails.filter(({ id }) => !begun.has(id));
  const blockedMails = notBegun.length > 0 ? await listBlocked(db, notBegun) : [];
  const blocked = new Map(blockedMails.map(({ id, by }) => [id, by]));
  return mails.map(({ id }) => {
    const [attempt, by] = [begun.get(id), blocked.get(id)];
    if (attempt !== undefined) return { attempt };
    return by ? { blocked: by } : 'withdrawn';
  });
}

/** Outcome of an attempt as a span attribute. */
function spanOutcome({ beginning, outcome }: MailAttempt): string {
  if (beginning !== undefined && !hasBegun(beginning)) return 'withdrawn';
  if (outcome.kind === 'refused') return outcome.permanent ? 'permanent' : 'transient';
  return outcome.kind === 'lost' ? 'transient' : outcome.kind;
}

/** Records outcomes in batches that organizations share fairly. */
export const createRecorder = (db: Db) =>
  createBatch<OutcomeRow, void>(
    {
      keyOf: ({ org_id }) => org_id,
      write: (batch) => saveAll(db, batch, sharedLockMs),
      // An outcome must not get lost while Postgres is down or in a deadlock.
      writeKey: (batch) =>
        retryWhile(
          (error) => isDatabaseAway(error) || isDeadlock(error),
          () => saveAll(poolForGroup(db, batch[0]!.org_id), batch),
        ),
    },
    recordBatch,
  );

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

async function markUnknown(db: Db, orgId: string, ids: readonly string[]) {
  const begun = await markBegunUnknown(db, orgId, ids, unknownOutcome);
  for (const mail of begun) publishEnded(mail, 'unknown');
}

/** Emails without an outcome in the backup may have been sent since. */
export const markUnknownAfterRestore = (tx: Sql) =>
  markOpenUnknown(
    tx,
    'restored from a backup: it may have been sent since, so it is not sent again',
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

/** Two transactions that save the same people may deadlock. */
export const inRetriedTransaction = <T>(db: Db, work: (tx: Sql) => Promise<T>): Promise<T> =>
  retryWhile(isDeadlock, () => inTransaction(db, work));

/** Publishes an email that ended without an attempt: marked unknown after a crash, or cancelled. */
export function publishEnded(mail: EndedMail, outcome: 'unknown' | 'failed') {
  const { id: sendId, org_id: orgId, survey_id: surveyId, attempts: attempt, traceparent } = mail;
  const sinceMs = mail.claimed_ms_ago;
  mailed.publish({ sendId, orgId, surveyId, attempt, outcome, ms: null, sinceMs, traceparent });
}

export function mailJobs(
  {
    orgId,
    traceparent,
    stuck_since = null,
  }: { orgId: string; traceparent: string | null; stuck_since?: string | null },
  mailIds: readonly string[],
): NewJob[] {
  const jobs: NewJob[] = [];
  for (let from = 0; from < mailIds.length; from += mailsPerJob) {
    const mail_ids = mailIds.slice(from, from + mailsPerJob);
    const payload = { org_id: orgId, mail_ids, ...(stuck_since && { stuck_since }) };
    jobs.push({ task: 'sends.mail', payload, traceparent });
  }
  return jobs;
}

/** Composes and sends one email. It never throws for a reply of the mail server. */
export type Mailer = {
  concurrency: number;
  server?: MailServer | null;
  /** Calls `mayLeave` right before the first byte of the email: a crash before the call has sent nothing. */
  send(
    mail: ClaimedMail,
    leaving: { signal: AbortSignal; mayLeave: () => Promise<boolean> },
  ): Promise<MailOutcome>;
};

type MailServer = { host: string; port: number };

/**
 * Composes and sends emails. `stop` lets emails finish that have begun, and begins no others. The remaining emails stay
 * claimed, and their job fails and runs again in another process.
 */
export function createMailer({
  transport,
  concurrency,
  server = null,
  publicUrl,
  dkim,
  bounceDomain,
}: {
  transport: MailTransport;
  server?: MailServer | null;
  concurrency: number;
  publicUrl: string;
  dkim: DkimSigner | null;
  /** If set, each return path names its email, so that bounces can be matched. */
  bounceDomain: string | null;
}) {
  const letters = new WeakMap<WrittenMail['survey'], Map<string, Letter>>();

  function letterOf(claimed: WrittenMail): Letter {
    const language = languageFor(claimed.survey, { property: claimed.properties['language'] });
    const byLanguage = letters.get(claimed.survey) ?? new Map<string, Letter>();
    letters.set(claimed.survey, byLanguage);
    const key = `${language} ${claimed.reminder}`;
    const cached = byLanguage.get(key);
    if (cached) return cached;
    const { survey, organization, reminder } = claimed;
    const words = inLanguage(survey, language);
    // Mail programs thread by subject, so a reminder without its own subject reuses the first one.
    const subject = survey.reminders[reminder - 1]?.subject ?? words.subject;
    const letter = composeLetter({
      survey: { ...words, subject },
      organization,
      publicUrl,
      isReminder: reminder > 0,
    });
    byLanguage.set(key, letter);
    return letter;
  }

  const stopping = new AbortController();

  async function send(claimed: WrittenMail, sendOptions: SendOptions = {}): Promise<MailOutcome> {
    stopping.signal.throwIfAborted();
    const letter = letterOf(claimed);
    const write = (to: string) => {
      const { id: sendId, name, token, properties, reminds_of: remindsOf } = claimed;
      const contact = { sendId, email: to, name, token, properties, remindsOf };
      return letter.fill(letter.filling(contact, new Date()));
    };
    return await sendMessage({ ...claimed, from: letter.from, write }, sendOptions);
  }

  /** Sends a reply. As with survey emails, nothing leaves before `mayLeave` has returned true. */
  async function sendReply(
    reply: WrittenReply,
    sendOptions: SendOptions = {},
  ): Promise<MailOutcome> {
    stopping.signal.throwIfAborted();
    const { template, slots } = replyMail({
      ...reply,
      thread: reply.thread.map((id) => messageIdOf(id, publicUrl)),
    });
    const messageId = messageIdOf(reply.id, publicUrl);
    const write = (address: string) => {
      const to = { name: reply.person.name, address };
      return compose(template)({ to, messageId, date: new Date(), slots });
    };
    const from = mailableAddress(reply.survey.from_email);
    return await sendMessage({ ...reply, from, write }, sendOptions);
  }

  async function sendMessage(
    { id, org_id, email, from, write }: Message,
    sendOptions: SendOptions,
  ) {
    const to = mailableAddress(email);
    const sender = bounceDomain ? `bounce+${id}@${bounceDomain}` : from;
    if (!to) return rejectAddress('email cannot be sent to this address');
    if (!sender) return rejectAddress('email cannot be sent from the sender address of the survey');
    const message = write(to);
    const signed = dkim ? await dkim(message) : message;
    return await transport.send({ from: sender, to }, signed, {
      ...sendOptions,
      group: org_id,
      mayLeave: async () => {
        stopping.signal.throwIfAborted();
        return (await sendOptions.mayLeave?.()) ?? true;
      },
    });
  }

  return { concurrency, server, send, sendReply, stop: () => stopping.abort() };
}

export type WrittenReply = ReplyMail & { id: string; org_id: string; email: string };

type Message = {
  id: string;
  org_id: string;
  email: string;
  /** Address of the sender, unless bounces have their own domain. */
  from: string | null | undefined;
  write: (to: string) => Buffer;
};

type Letter = ReturnType<typeof composeLetter>;

const composeLetter = (mail: SurveyMail) => ({
  from: mailableAddress(mail.survey.from_email),
  fill: compose(surveyMail(mail)),
  filling: mailFillings(mail),
});
