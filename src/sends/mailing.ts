import { setTimeout as sleep } from 'node:timers/promises';
import { mailed } from '../happenings.ts';
import { type MailServer, mailEnd, mailSpan } from '../platform/conventions.ts';
import { type Db, isDatabaseAway, isDeadlock } from '../platform/db.ts';
import type { Log } from '../platform/log.ts';
import { inSpan } from '../platform/spans.ts';
import {
  beginMails,
  type ClaimedMail,
  giveUpBegun,
  listClaimed,
  lockMonths,
  type SettledMail,
  settleMails,
} from './mailing.queries.ts';
import { type MailOutcome, settle, unknownOutcome } from './rules.ts';
import { mailedFacts, settledMail } from './settled.ts';
import { createSlots, grouped } from './together.ts';
import type { Waiting } from './waiting.ts';

const writeAgainMs = 250;
const writeForMs = 60_000;

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
  waiting: Waiting;
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
  const begin = grouped<ClaimedMail, number | undefined>(async (mails) => {
    const begun = new Map(
      (await tryOn(() => beginMails(db, mails), isDeadlock)).map(({ id, attempts }) => [
        id,
        attempts,
      ]),
    );
    return mails.map(({ id }) => begun.get(id));
  });
  const record = grouped<SettledMail, void>(async (settled) => {
    const mayPass = (error: unknown) => isDatabaseAway(error) || isDeadlock(error);
    await tryOn(() => writeOutcomes(db, settled), mayPass);
    return settled.map(() => undefined);
  });

  /**
   * A job: every mail of it that is still to go out. Run again after a crash, it repeats none. It does
   * not end before all of them: run again while some are on their way, it would give these up.
   */
  async function mail(
    orgId: string,
    sendIds: readonly string[],
    traceparent: string | null = null,
  ) {
    // In this order: what a dead process began in between is then given up, or found to be withdrawn.
    const mails = await listClaimed(db, orgId, sendIds);
    const lost = await giveUpBegun(db, orgId, sendIds, unknownOutcome);
    const time = timeFor(mails, settings.sendDeadlineSeconds * 1000);
    try {
      const ends = await Promise.allSettled(mails.map((mail) => mailOne(mail, time, traceparent)));
      const withdrawn = ends.flatMap((end) => (end.status === 'fulfilled' && end.value) || []);
      // Begun by a process that is dead, with its last words: nobody else would look after it.
      if (withdrawn.length > 0) await giveUpBegun(db, orgId, withdrawn, unknownOutcome);
      const failure = ends.find(({ status }) => status === 'rejected');
      if (failure) throw (failure as PromiseRejectedResult).reason;
    } finally {
      const requests = [...lost, ...mails].map(({ request_id }) => request_id);
      await waiting.tell(requests).catch((error: unknown) => log.warn({ err: error }, 'not told'));
    }
  }

  /** Gives back its id when it may not go out any more. */
  async function mailOne(mail: ClaimedMail, { endsAt, signal }: Time, job: string | null) {
    let attempt = mail.attempts;
    const since = performance.now() - mail.claimed_ms_ago;
    for (let tries = attempt + 1; ; tries++) {
      const tried = await slots.run(() => tryInSpan(mail, { attempt: tries, signal, job }));
      if (tried.withdrawn) return mail.id;
      const left = tried.attempt !== undefined;
      attempt = tried.attempt ?? attempt;
      const settlement = settle(tried.outcome, tries, endsAt - performance.now());
      // A mail that did not get as far as to leave is still claimed, as the row says.
      if (left || settlement.status !== 'again')
        await record(settledMail(mail, attempt, settlement));
      const sinceMs = performance.now() - since;
      const { ms, traceparent } = tried;
      mailed.tell(mailedFacts(mail, { attempt: tries, settlement, ms, sinceMs, traceparent }));
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
        own.ended(() => mailEnd(tried.withdrawn ? 'withdrawn' : tried.outcome.kind));
        return { ...tried, traceparent: own.traceparent };
      },
    );
  }

  async function tryOnce(mail: ClaimedMail, signal: AbortSignal) {
    let [attempt, withdrawn]: [number | undefined, boolean] = [undefined, false];
    const began = performance.now();
    const mayLeave = async () => {
      attempt = await begin(mail);
      withdrawn = attempt === undefined;
      return !withdrawn;
    };
    const outcome = await mailer.send(mail, { signal, mayLeave });
    return { outcome, attempt, withdrawn, ms: performance.now() - began };
  }

  return { mail };
}

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

/** One statement, but for mails that failed: their months are locked first. */
async function writeOutcomes(db: Db, settled: readonly SettledMail[]) {
  const failed = settled.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return await settleMails(db, settled);
  await db.begin(async (tx) => {
    const ids = failed.map(({ id }) => id);
    await Promise.all([lockMonths(tx, ids), settleMails(tx, settled)]);
  });
}

/** What a mail server has said must not be forgotten because Postgres is away, or others stood in the way. */
async function tryOn<T>(write: () => Promise<T>, mayPass: (error: unknown) => boolean) {
  for (let waitedMs = 0; ; waitedMs += writeAgainMs) {
    try {
      return await write();
    } catch (error) {
      if (!mayPass(error) || waitedMs >= writeForMs) throw error;
      await sleep(writeAgainMs);
    }
  }
}
