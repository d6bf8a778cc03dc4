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
import {
  type Db,
  inRetriedTransaction,
  inTransaction,
  isDatabaseAway,
  isDeadlock,
  retryWhile,
} from '../lib/db/db.ts';
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
  endExpiredMails,
  listBlocked,
  listExpiredMails,
  listMailContents,
  listOpenMails,
  lockMonths,
  markBegunUnknown,
  restartFailedJobs,
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
const maxWatchedSurveys = 1000;

export type MailJobs = ReturnType<typeof createMailJobs>;

/**
 * Runs the jobs that send claimed emails: load, begin, send, decide, record. The emails of a job belong to one request.
 * The jobs of a process share its connections, which organizations use in turn.
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
  progress: { report: (requestId: string) => Promise<void> };
  settings: { sendDeadlineSeconds: number };
  /**
   * Called when the mail server refuses every email of a request. Returns true if the emails belong to a campaign,
   * which is now paused.
   */
  pauseCampaign?: (orgId: string, batch: { id: string; reason: string }) => Promise<boolean>;
}) {
  const slots = createSemaphore({ slots: mailer.concurrency });
  /** By survey, because each job of a paced campaign has only one email. */
  const refusalWatches = new Map<string, RefusalWatch>();
  /** Duration of the slowest recent SMTP exchange. */
  let exchangeMs = 0;

  function refusalWatchOf(surveyId: string): RefusalWatch {
    if (refusalWatches.size > maxWatchedSurveys) refusalWatches.clear();
    const watch = refusalWatches.get(surveyId) ?? createRefusalWatch();
    refusalWatches.set(surveyId, watch);
    return watch;
  }

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
    const { mails, awaitedBy } = await load(orgDb, orgId, ids);
    const [first] = mails;
    const ms = mailTime(first, settings.sendDeadlineSeconds * 1000);
    const job: MailJob = {
      traceparent,
      endsAt: performance.now() + ms,
      maxExchangeMs: ms / 2,
      signal: AbortSignal.timeout(Math.ceil(ms)),
      refusesAll: first ? refusalWatchOf(first.survey_id) : createRefusalWatch(),
      ...createWriters(orgDb),
    };
    try {
      const ends = await Promise.allSettled(mails.map((mail) => send(mail, job)));
      const ended = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
      const withdrawn = ended.filter(({ as }) => as === 'withdrawn').map(({ id }) => id);
      // A crashed process may have begun these emails, and no other job handles them.
      if (withdrawn.length > 0) await markUnknown(orgDb, orgId, withdrawn);
      const deferred = ended.filter(({ as }) => as === 'deferred');
      if (deferred.length > 0 && !(await pausedFor(mails[0]!, job))) {
        await deferMails(orgDb, { orgId, mails, deferred, stuckSince });
      }
      const failure = ends.find(({ status }) => status === 'rejected');
      if (failure) throw (failure as PromiseRejectedResult).reason;
    } finally {
      if (awaitedBy) {
        await progress
          .report(awaitedBy)
          .catch((err: unknown) => log.warn({ err }, 'cannot notify the waiting request'));
      }
    }
  }

  async function send(mail: ClaimedMail, job: MailJob): Promise<MailEnd> {
    const claimedAt = performance.now() - mail.claimed_ms_ago;
    for (let tries = mail.attempts + 1, attempt = mail.attempts; ; tries++) {
      // Skip the attempt if the server refuses the whole survey: servers block clients that fail too often.
      const tried = await slots.run<Tried>(
        mail.org_id,
        async () => job.refused ?? (await tryInSpan(mail, tries, job)),
      );
      const { beginning, ms, traceparent } = tried;
      if (beginning === 'withdrawn') return { id: mail.id, as: 'withdrawn' };
      if (hasBegun(beginning)) attempt = beginning.attempt;
      const now = performance.now();
      const isUntried = tried === job.refused;
      const refusesAll = isUntried || job.refusesAll(mail, tried.outcome);
      if (refusesAll && !isUntried) {
        job.refused = { ...tried, beginning: undefined, ms: null };
        refusalWatches.delete(mail.survey_id); // counts again after a resume
      }
      const decision = decide(tried, {
        tries,
        triesOfJob: tries - mail.attempts,
        remainingMs: job.endsAt - now,
        ageMs: mail.awaited ? null : now - claimedAt,
        refusesAll,
      });
      const reason = decision.status === 'deferred' ? decision.reason : null;
      // The row of an email that has not begun is still claimed, so a retry needs no record.
      if (hasBegun(beginning) || (decision.status !== 'retry' && decision.status !== 'deferred')) {
        await job.record(toRow({ ...mail, attempt }, decision));
      }
      if (decision.status === 'blocked' || (isUntried && decision.status === 'deferred')) {
        return { id: mail.id, as: decision.status, reason };
      }
      mailed.publish({
        sendId: mail.id,
        orgId: mail.org_id,
        surveyId: mail.survey_id,
        attempt: tries,
        outcome: outcomeWord(decision),
        ms,
        sinceMs: performance.now() - claimedAt,
        traceparent,
      });
      if (decision.status !== 'retry') return { id: mail.id, as: decision.status, reason };
      await sleep(decision.inMs);
    }
  }

  /** Opens the span in the job's trace, or else in the request's. */
  async function tryInSpan(mail: ClaimedMail, attempt: number, job: MailJob): Promise<Tried> {
    const { id: sendId, survey_id: surveyId, traceparent, claimed_ms_ago: agoMs } = mail;
    return await inSpan(
      job.traceparent === null
        ? { traceparent, agoMs }
        : { traceparent: job.traceparent, agoMs: 0 },
      () => ({
        name: 'send mail',
        kind: SpanKind.CLIENT,
        attributes: {
          'askback.survey.id': surveyId,
          'askback.send.id': sendId,
          'askback.send.attempt': attempt,
        },
      }),
      async (span) => {
        const tried = await tryOnce(mail, job);
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

  async function tryOnce(mail: ClaimedMail, job: MailJob) {
    const startedAt = performance.now();
    let beginning: Beginning | undefined;
    let leftAt = startedAt;
    /** Refuses to begin an email that would probably miss the deadline: its outcome would be unknown. */
    const mayLeave = async () => {
      const isLate = job.endsAt - performance.now() < Math.min(exchangeMs, job.maxExchangeMs);
      beginning = isLate ? 'late' : await job.begin(mail);
      leftAt = performance.now();
      return hasBegun(beginning);
    };
    const outcome = await mailer.send(mail, { signal: job.signal, mayLeave });
    const endedAt = performance.now();
    if (hasBegun(beginning)) exchangeMs = Math.max(endedAt - leftAt, exchangeMs * 0.9);
    return { outcome, beginning, ms: endedAt - startedAt };
  }

  /** Pauses the campaign of a mail if the server refuses all of its emails. */
  async function pausedFor({ org_id, request_id: id }: ClaimedMail, { refused }: MailJob) {
    if (!refused) return false;
    return await pauseCampaign(org_id, { id, reason: reasonForAll(refused.outcome) });
  }

  return { run };
}

type MailEnd = {
  id: string;
  as: MailDecision['status'] | 'withdrawn';
  reason?: string | null;
};
type Tried = MailAttempt & { ms: number | null; traceparent: string | null };
type RefusalWatch = ReturnType<typeof createRefusalWatch>;
type MailJob = ReturnType<typeof createWriters> & {
  traceparent: string | null;
  endsAt: number;
  maxExchangeMs: number;
  signal: AbortSignal;
  refusesAll: RefusalWatch;
  /** The attempt that revealed that the server refuses the whole survey. */
  refused?: Tried;
};

async function load(db: Db, orgId: string, ids: readonly string[]) {
  const open = await listOpenMails(db, orgId, ids);
  if (open.some(({ status }) => status === 'sending')) await markUnknown(db, orgId, ids);
  const [first] = open;
  const [content] = first ? await listMailContents(db, orgId, [first.survey_id]) : [];
  const claimed = content ? open.filter(({ status }) => status === 'claimed') : [];
  const mails = claimed.map((mail): ClaimedMail => ({ ...mail, ...content! }));
  return { mails, awaitedBy: first?.awaited ? first.request_id : null };
}

/** Writes starts and outcomes in batches: the next batch fills while one is written. */
function createWriters(db: Db) {
  const begins = createBatch<ClaimedMail, Beginning>(
    { write: (mails) => retryWhile(isDeadlock, () => beginAll(db, mails)) },
    { maxItems: 200 },
  );
  const records = createBatch<OutcomeRow, void>(
    {
      // An outcome must not get lost while Postgres is down or in a deadlock.
      write: (rows) =>
        retryWhile(
          (error) => isDatabaseAway(error) || isDeadlock(error),
          () => recordAll(db, rows),
        ),
    },
    { maxItems: 100, lingerMs: 20 },
  );
  return { begin: begins.add, record: records.add };
}

async function beginAll(db: Db, mails: readonly ClaimedMail[]): Promise<Beginning[]> {
  const marked = await beginMails(db, mails);
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

async function recordAll(db: Db, outcomes: readonly OutcomeRow[]) {
  const failed = outcomes.filter(({ status }) => status === 'failed').map(({ id }) => id);
  if (failed.length === 0) await saveOutcomes(db, outcomes);
  else {
    await inTransaction(db, async (tx) => {
      await Promise.all([lockMonths(tx, failed), saveOutcomes(tx, outcomes)]);
    });
  }
  return outcomes.map(() => undefined);
}

function spanOutcome({ beginning, outcome }: MailAttempt): string {
  if (beginning !== undefined && !hasBegun(beginning)) return 'withdrawn';
  if (outcome.kind === 'refused') return outcome.permanent ? 'permanent' : 'transient';
  return outcome.kind === 'lost' ? 'transient' : outcome.kind;
}

type Deferral = {
  orgId: string;
  mails: readonly ClaimedMail[];
  deferred: readonly MailEnd[];
  stuckSince: string | null;
};

/** Enqueues another job for deferred emails. The delay grows only while the server accepts none of them. */
async function deferMails(db: Db, { orgId, mails, deferred, stuckSince }: Deferral) {
  const ids = deferred.map(({ id }) => id);
  const isStuck = deferred.length === mails.length;
  const ageMs = isStuck ? mails[0]!.claimed_ms_ago : 0; // mails of a job were claimed together
  const now = Date.now();
  const stuck_since = isStuck ? (stuckSince ?? new Date(now).toISOString()) : null;
  const reason = deferred.at(-1)?.reason;
  if (isStuck && reason) await saveDeferralReason(db, orgId, { ids, reason });
  const jobs = mailJobs({ orgId, traceparent: null, stuck_since }, ids);
  const runAt = new Date(now + deferralMs(ageMs));
  await enqueue(
    db,
    jobs.map((job) => ({ ...job, runAt })),
  );
}

async function markUnknown(db: Db, orgId: string, ids: readonly string[]) {
  const begun = await markBegunUnknown(db, orgId, ids, unknownOutcome);
  for (const mail of begun) publishEnded(mail, 'unknown');
}

/** An email in flight ends, and its outcome is recorded, within this time. */
const marginSeconds = 180;

export type RecoverTools = { db: Db; log: Log; settings: { sendDeadlineSeconds: number } };

/**
 * Restarts mail jobs that have used up their attempts. Emails that are a day old, or whose survey was closed manually,
 * fail first. A job marks emails that it has begun as unknown.
 */
export async function recoverStrandedMails({ db, log, settings }: RecoverTools) {
  const seconds = settings.sendDeadlineSeconds + marginSeconds;
  for (let ended: EndedMail[] | undefined; ended?.length !== 0; ) {
    ended = await inRetriedTransaction(db, async (tx) => {
      const ids = await listExpiredMails(tx, seconds);
      await lockMonths(tx, ids);
      return [...(await endExpiredMails(tx, ids))];
    });
    for (const mail of ended) publishEnded(mail, 'failed');
  }
  const count = await restartFailedJobs(db, seconds);
  if (count > 0) log.warn({ count }, 'restarted failed email jobs');
}

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
  /** Calls `mayLeave` right before the first byte of the email: a crash before the call has sent nothing. */
  send(
    mail: ClaimedMail,
    leaving: { signal: AbortSignal; mayLeave: () => Promise<boolean> },
  ): Promise<MailOutcome>;
};

/**
 * Composes and sends emails. `stop` lets emails finish that have begun, and begins no others. The remaining emails stay
 * claimed, and their job fails and runs again in another process.
 */
export function createMailer({
  transport,
  concurrency,
  publicUrl,
  dkim,
  bounceDomain,
}: {
  transport: MailTransport;
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

  return { concurrency, send, sendReply, stop: () => stopping.abort() };
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
