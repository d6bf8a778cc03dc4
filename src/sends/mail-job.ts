import { setTimeout as sleep } from 'node:timers/promises';
import { enqueue } from '../jobs.ts';
import { createFairSlots } from '../lib/async/fair-slots.ts';
import type { Db } from '../lib/db/db.ts';
import { ofGroup } from '../lib/db/fair-pool.ts';
import type { Log } from '../lib/log/log.ts';
import { dependsOnProperties } from '../surveys/texts.ts';
import { createAttempts, type MailTime } from './attempts.ts';
import type { ClaimedMails } from './claimed-mails.ts';
import { jobsOf } from './jobs.ts';
import {
  type ClaimedMail,
  listMailProperties,
  listMailWords,
  listOpenMails,
  type OpenMail,
  type SurveyWords,
} from './mail-job.queries.ts';
import type { Mailer } from './mailer.ts';
import {
  type AttemptTime,
  decide,
  hasBegun,
  type MailDecision,
  mailTime,
  putOffDelay,
  toRow,
} from './outcome.rules.ts';
import { createRecords, giveUp, publishAttempt } from './record.ts';
import type { SendProgress } from './send-progress.ts';

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
    const own = ofGroup(db, orgId);
    const { mails, requestIds } = await load({ ...tools, db: own }, orgId, ids);
    const time = timeFor(mails, settings.sendDeadlineSeconds * 1000);
    try {
      const ends = await Promise.allSettled(
        mails.map((mail) => records.open(orgId, () => send(mail, time, traceparent))),
      );
      const ended = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
      const withdrawn = idsOf(ended, 'withdrawn');
      // A dead process may have begun them with its last statement, which no other job looks after.
      if (withdrawn.length > 0) await giveUp(own, orgId, withdrawn);
      const failure = ends.find(({ status }) => status === 'rejected');
      const delayed = idsOf(ended, 'put_off');
      if (delayed.length > 0) await putOff(own, orgId, { delayed, mails });
      if (failure) throw (failure as PromiseRejectedResult).reason;
    } finally {
      await progress
        .notify(requestIds)
        .catch((err: unknown) => log.warn({ err }, 'could not notify the waiting request'));
    }
  }

  /** Tries a mail until it has an outcome, was withdrawn or is put off. */
  async function send(mail: ClaimedMail, time: MailTime, job: string | null): Promise<MailEnd> {
    const claimedAt = performance.now() - mail.claimed_ms_ago;
    for (let tries = mail.attempts + 1, attempt = mail.attempts; ; tries++) {
      const tried = await slots.run(mail.org_id, () =>
        attempts.tryInSpan(mail, { attempt: tries, time, job }),
      );
      const { beginning, ms, traceparent } = tried;
      if (beginning === 'withdrawn') return { id: mail.id, as: 'withdrawn' };
      if (hasBegun(beginning)) attempt = beginning.attempt;
      const decision = decide(tried, timeOf(mail, { tries, endsAt: time.endsAt, claimedAt }));
      // A mail that did not begin and is tried again is still claimed, as its row says.
      if (hasBegun(beginning) || !isTriedAgain(decision)) {
        await records.add(toRow({ ...mail, attempt }, decision));
      }
      if (decision.status === 'blocked') return { id: mail.id, as: 'blocked' };
      const sinceMs = performance.now() - claimedAt;
      publishAttempt(mail, decision, { attempt: tries, ms, sinceMs, traceparent });
      if (decision.status !== 'retry') return { id: mail.id, as: decision.status };
      await sleep(decision.inMs);
    }
  }

  return { run };
}

type MailEnd = { id: string; as: MailDecision['status'] | 'withdrawn' };

const idsOf = (mails: readonly MailEnd[], end: MailEnd['as']) =>
  mails.filter(({ as }) => as === end).map(({ id }) => id);

const isTriedAgain = ({ status }: MailDecision) => status === 'retry' || status === 'put_off';

type Tried = { tries: number; endsAt: number; claimedAt: number };

function timeOf({ awaited }: ClaimedMail, { tries, endsAt, claimedAt }: Tried): AttemptTime {
  const now = performance.now();
  return { tries, remainingMs: endsAt - now, ageMs: awaited ? null : now - claimedAt };
}

/** Another job tries mails again: soon if there was too little time, later if the server takes none. */
async function putOff(
  db: Db,
  orgId: string,
  { delayed, mails }: { delayed: readonly string[]; mails: readonly ClaimedMail[] },
) {
  const ageMs = mails[0]!.claimed_ms_ago; // they were claimed together
  const inMs = delayed.length < mails.length ? putOffDelay(0) : putOffDelay(ageMs);
  const runAt = new Date(Date.now() + inMs);
  const jobs = jobsOf({ orgId, traceparent: null }, delayed);
  await enqueue(
    db,
    jobs.map((job) => ({ ...job, runAt })),
  );
}

/** The mails of a job that may still go out, and the requests that wait for any of its mails. */
async function load({ db, claimedMails }: MailJobTools, orgId: string, ids: readonly string[]) {
  const kept = claimedMails?.take(ids);
  const open = kept?.mails ?? (await listOpenMails(db, orgId, ids));
  if (open.some(({ status }) => status === 'sending')) await giveUp(db, orgId, ids);
  const claimed = open.filter(({ status }) => status === 'claimed');
  const requestIds = open.filter(({ awaited }) => awaited).map(({ request_id }) => request_id);
  const words = kept?.words ?? (await readWords(db, orgId, claimed));
  return { mails: await addProperties(db, addWords(claimed, words)), requestIds };
}

async function readWords(db: Db, orgId: string, mails: readonly OpenMail[]) {
  const surveyIds = [...new Set(mails.map(({ survey_id }) => survey_id))];
  return surveyIds.length > 0 ? await listMailWords(db, orgId, surveyIds) : [];
}

/** Mails of one survey share its words, as one object. */
function addWords(mails: readonly OpenMail[], words: readonly SurveyWords[]) {
  const bySurvey = new Map(words.map(({ survey_id, ...each }) => [survey_id, each]));
  return mails.flatMap((mail): ClaimedMail[] => {
    const own = bySurvey.get(mail.survey_id);
    return own ? [{ ...mail, ...own }] : [];
  });
}

/** Few surveys say something that depends on a contact's properties: only their mails read them. */
async function addProperties(db: Db, mails: readonly ClaimedMail[]): Promise<ClaimedMail[]> {
  const needing = mails.filter(({ survey }) => dependsOnProperties(survey));
  if (needing.length === 0) return [...mails];
  const found = await listMailProperties(db, needing);
  const byMail = new Map(found.map(({ id, properties }) => [id, properties]));
  return mails.map((mail) => ({ ...mail, properties: byMail.get(mail.id) ?? {} }));
}

function timeFor(mails: readonly ClaimedMail[], deadlineMs: number): MailTime {
  const ms = mailTime(mails, deadlineMs);
  const signal = AbortSignal.timeout(Math.ceil(ms));
  return { endsAt: performance.now() + ms, longestMs: deadlineMs / 2, signal };
}
