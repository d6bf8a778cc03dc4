import { setTimeout as sleep } from 'node:timers/promises';
import { batched, createSlots } from '../lib/async/batch.ts';
import { type Db, isDeadlock } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { inSpan } from '../lib/tracing/spans.ts';
import { mailed } from '../signals.ts';
import { type Beginning, beginAll } from './begin.ts';
import { takeInHand } from './in-hand.ts';
import type { ClaimedMail } from './mailing.queries.ts';
import { type MailOutcome, settle } from './rules.ts';
import type { SendProgress } from './send-progress.ts';
import { mailedFacts, settledMail } from './settled.ts';
import type { SettledMail } from './settling.queries.ts';
import { giveUp, tryOn, writeOutcomes } from './settling.ts';
import { type MailServer, mailEnd, mailSpan } from './spans.ts';

/** Writes and sends one mail; it never throws for what the mail server does. */
export type Mailer = {
  /** Mails that are worth having under way at once. */
  concurrency: number;
  /** Where mails go; nothing for the built-in mailbox. */
  server?: MailServer;
  /** Asks `mayLeave` when the mail is about to leave: a crash before that has sent nothing. */
  send(mail: ClaimedMail, leaving: Leaving): Promise<MailOutcome>;
};

type Leaving = { signal: AbortSignal; mayLeave: () => Promise<boolean> };

export type MailingTools = {
  db: Db;
  log: Log;
  mailer: Mailer;
  waiting: Pick<SendProgress, 'notify'>;
  settings: { sendDeadlineSeconds: number };
};

/** By how much the transport's time ends before that of the request which waits for it. */
const marginMs = 1000;

export type Mailing = ReturnType<typeof createMailing>;

/**
 * Mails what jobs have claimed. Jobs of a process share its connections and its two writers: what is
 * about to go out is marked in groups, and outcomes are written in groups; while one group is being
 * written the next gathers.
 */
export function createMailing({ db, log, mailer, waiting, settings }: MailingTools) {
  const slots = createSlots(mailer.concurrency);
  const begin = batched((mails: ClaimedMail[]) => tryOn(() => beginAll(db, mails), isDeadlock));
  const record = batched((settled: SettledMail[]) => writeOutcomes(db, settled));

  /**
   * A job: every mail of it that is still to go out. Run again after a crash, it repeats none. It does
   * not end before all of them: run again while some are on their way, it would give these up.
   */
  async function mail(
    orgId: string,
    sendIds: readonly string[],
    traceparent: string | null = null,
  ) {
    const { mails, requestIds } = await takeInHand(db, orgId, sendIds);
    const time = timeFor(mails, settings.sendDeadlineSeconds * 1000);
    try {
      const ends = await Promise.allSettled(mails.map((mail) => mailOne(mail, time, traceparent)));
      const withdrawn = ends.flatMap((end) => (end.status === 'fulfilled' && end.value) || []);
      // Begun by a process that is dead, with its last words: nobody else would look after it.
      if (withdrawn.length > 0) await giveUp(db, orgId, withdrawn);
      const failure = ends.find(({ status }) => status === 'rejected');
      if (failure) throw (failure as PromiseRejectedResult).reason;
    } finally {
      await waiting
        .notify(requestIds)
        .catch((error: unknown) => log.warn({ err: error }, 'not told'));
    }
  }

  /** Gives back its id when it may not go out any more. */
  async function mailOne(mail: ClaimedMail, { endsAt, signal }: Time, job: string | null) {
    let attempt = mail.attempts;
    const since = performance.now() - mail.claimed_ms_ago;
    for (let tries = attempt + 1; ; tries++) {
      const tried = await slots.run(() => tryInSpan(mail, { attempt: tries, signal, job }));
      const { beginning } = tried;
      if (beginning === 'withdrawn') return mail.id;
      if (beginning && 'keptBack' in beginning) {
        const keptBack = { status: 'kept_back', why: beginning.keptBack } as const;
        await record(settledMail(mail, attempt, keptBack));
        return null;
      }
      attempt = beginning?.attempt ?? attempt;
      const settlement = settle(tried.outcome, tries, endsAt - performance.now());
      // A mail that did not get as far as to leave is still claimed, as the row says.
      if (beginning || settlement.status !== 'again')
        await record(settledMail(mail, attempt, settlement));
      const sinceMs = performance.now() - since;
      const { ms, traceparent } = tried;
      mailed.publish(mailedFacts(mail, { attempt: tries, settlement, ms, sinceMs, traceparent }));
      if (settlement.status !== 'again') return null;
      await sleep(settlement.inMs);
    }
  }

  /** Part of the job's trace; of the request's, where the job does not say. */
  async function tryInSpan(mail: ClaimedMail, { attempt, signal, job }: Try) {
    const { id: sendId, survey_id: surveyId, traceparent, claimed_ms_ago: agoMs } = mail;
    return await inSpan(
      job === null ? { traceparent, agoMs } : { traceparent: job, agoMs: 0 },
      () => mailSpan(mailer.server ?? null, { sendId, surveyId, attempt }),
      async (own) => {
        const tried = await tryOnce(mail, signal);
        own.ended(() =>
          mailEnd(tried.beginning && !leaves(tried.beginning) ? 'withdrawn' : tried.outcome.kind),
        );
        return { ...tried, traceparent: own.traceparent };
      },
    );
  }

  async function tryOnce(mail: ClaimedMail, signal: AbortSignal) {
    let beginning: Beginning | undefined;
    const began = performance.now();
    const mayLeave = async () => {
      beginning = await begin(mail);
      return leaves(beginning);
    };
    const outcome = await mailer.send(mail, { signal, mayLeave });
    return { outcome, beginning, ms: performance.now() - began };
  }

  return { mail };
}

const leaves = (beginning: Beginning) => beginning !== 'withdrawn' && 'attempt' in beginning;

type Time = { endsAt: number; signal: AbortSignal };
type Try = { attempt: number; signal: AbortSignal; job: string | null };

/**
 * Until when mails are tried: while their request waits; and as long again for mails that a crash has
 * left behind, for which nobody waits any more.
 */
function timeFor(mails: readonly ClaimedMail[], deadlineMs: number): Time {
  const agoMs = Math.min(...mails.map(({ claimed_ms_ago }) => claimed_ms_ago), deadlineMs);
  const remainingMs = agoMs < deadlineMs ? deadlineMs - agoMs : deadlineMs;
  const ms = Math.max(remainingMs - marginMs, remainingMs / 2);
  return { endsAt: performance.now() + ms, signal: AbortSignal.timeout(Math.ceil(ms)) };
}
