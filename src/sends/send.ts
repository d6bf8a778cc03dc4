import { randomUUID } from 'node:crypto';
import type { Writer } from '../audit/acts.ts';
import type { Db } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { enqueueSpan } from '../lib/queue/task.ts';
import { inSpan } from '../lib/tracing/spans.ts';
import { sendAnswered } from '../signals.ts';
import { type Claimed, claim, judgeOnly, type SentSurvey } from './claim.ts';
import { type ClaimedMails, publishEnded } from './mail-job.ts';
import {
  cancelClaims,
  listResults,
  lookAtMails,
  type OpenMail,
  type SendResult,
} from './queries.ts';
import {
  blockReasons,
  type Judgement,
  readContact,
  type SubmittedContact,
  tooLate,
  unknownOutcome,
  wasBlocked,
} from './rules.ts';

export type SendTools = {
  db: Db;
  progress: Pick<SendProgress, 'watch'>;
  claimedMails: Pick<ClaimedMails, 'keep' | 'discard'>;
  settings: { sendDeadlineSeconds: number };
};

type SendRequest = { surveyId: string; contacts: readonly unknown[]; traceparent: string | null };

export type ContactResult = {
  email: string;
  status: 'sent' | 'duplicate' | 'invalid' | 'failed';
  reason?: string;
  reason_code?: string;
};

/** Sends a survey to contacts and answers when every one of them has a final status. */
export async function sendSurvey(tools: SendTools, { orgId, actor }: Writer, request: SendRequest) {
  const survey = { orgId, surveyId: request.surveyId };
  const submitted = request.contacts.map((contact) => readContact(contact));
  const requestId = randomUUID();
  const watch = tools.progress.watch(requestId);
  let mails: readonly OpenMail[] = [];
  try {
    const claimed = await inSpan(
      { traceparent: request.traceparent, agoMs: 0 },
      () => enqueueSpan('sends.mail'),
      ({ traceparent }) => claim(tools.db, survey, { requestId, submitted, traceparent, actor }),
    );
    mails = claimed.mails;
    tools.claimedMails.keep(claimed);
    const known = await waitForAll(tools, survey, { requestId, mails: mails.length, watch });
    const results = resultsOf(submitted, claimed, known);
    sendAnswered.publish({ ...survey, results });
    return answer(survey, claimed, results);
  } finally {
    watch.end();
    tools.claimedMails.discard(mails);
  }
}

/** Says what a send would do: the same judgement and the same answer; nothing is written or sent. */
export async function trySend(tools: SendTools, { orgId }: Writer, request: SendRequest) {
  const survey = { orgId, surveyId: request.surveyId };
  const submitted = request.contacts.map((contact) => readContact(contact));
  const judged = await judgeOnly(tools.db, survey, submitted);
  const sent = { status: 'sent', reason: null, reason_code: null } as const;
  const results = new Map([...judged.claimed].map((each) => [each, { key: each, ...sent }]));
  return answer(survey, judged, resultsOf(submitted, judged, results));
}

type Results = ReadonlyMap<string, SendResult>;

type Wait = { requestId: string; mails: number; watch: MailWatch };

/** At the deadline mails that have not begun are cancelled, and mails in flight have no outcome yet. */
async function waitForAll(
  tools: SendTools,
  { orgId }: SentSurvey,
  { requestId, mails, watch }: Wait,
): Promise<Results> {
  if (mails === 0) return new Map();
  const endsAt = Date.now() + tools.settings.sendDeadlineSeconds * 1000;
  for (let enough = mails; ; ) {
    const remaining = endsAt - Date.now();
    await watch.waitForCount(enough, remaining);
    const finished = watch.finishedCount();
    const { open, results } = await lookAtMails(tools.db, orgId, requestId);
    if (results) return byKey(results);
    if (remaining <= 0) {
      const cancelled = await cancelClaims(tools.db, orgId, requestId, tooLate);
      for (const mail of cancelled) publishEnded(mail, 'failed');
      break;
    }
    enough = finished + open;
  }
  return byKey(await listResults(tools.db, orgId, requestId));
}

const byKey = (results: readonly SendResult[]): Results =>
  new Map(results.map((each) => [each.key, each]));

function resultsOf(
  submitted: readonly SubmittedContact[],
  { judgements, claimed }: Claimed,
  results: Results,
): ContactResult[] {
  return submitted.map(({ email }, place) => {
    const judgement = judgements[place]!;
    return { email, ...resultOf(judgement, claimed, results) };
  });
}

function resultOf(judgement: Judgement, claimed: ReadonlySet<string>, results: Results) {
  if (!('send' in judgement)) {
    const { status, reason, reason_code } = judgement;
    return { status, reason, reason_code };
  }
  const { key } = judgement.send;
  if (!claimed.has(key)) {
    const reason = 'another request is sending this survey to this address';
    return { status: 'duplicate' as const, reason, reason_code: 'in_flight' };
  }
  const { status, reason, reason_code } = results.get(key) ?? noResult;
  if (status === 'sent') return { status };
  if (reason && reason_code && wasBlocked(reason_code)) {
    return { status: 'duplicate' as const, reason, reason_code };
  }
  if (status === 'failed') {
    const why = reason ?? 'the mail server refused it';
    return { status, reason: why, reason_code: reason_code ?? 'refused' };
  }
  return {
    status: 'failed' as const,
    reason: reason ?? unknownOutcome,
    reason_code: 'unknown_outcome',
  };
}

/** Its mail is gone with its contact, which only an erasure deletes while a mail is open. */
const noResult = { status: 'failed', ...blockReasons.erased } as const;

function answer({ surveyId }: SentSurvey, { contacts }: Claimed, results: ContactResult[]) {
  const count = (status: ContactResult['status']) =>
    results.filter((result) => result.status === status).length;
  return {
    survey_id: surveyId,
    contacts_queued: contacts.length,
    contacts: contacts.map(({ id, email, token }) => ({ id, email, token })),
    results,
    sent: count('sent'),
    duplicates: count('duplicate'),
    invalid: count('invalid'),
    failed: count('failed'),
  };
}

const channel = 'askback_mails_finished';
const recheckMs = 1000;

export type SendProgress = Awaited<ReturnType<typeof createSendProgress>>;

/** The progress of one request's mails. */
type MailWatch = {
  finishedCount: () => number;
  /** Resolves when so many are finished, after a second, or when the time is over. */
  waitForCount: (mails: number, remainingMs: number) => Promise<void>;
  end: () => void;
};

type SendProgressTools = {
  db: Db;
  log: Log;
  /** Where a connection stays with this process, if that is not the case in the pool. */
  listenOn?: Db;
};

/**
 * Counts the finished mails of waiting requests. A job counts in memory for a request of its own process,
 * and sends one notification for a request of another process.
 */
export async function createSendProgress({ db, log, listenOn = db }: SendProgressTools) {
  const watches = new Map<string, (mails: number) => void>();

  const onNotification = (payload: string) => {
    const [requestId = '', mails] = payload.split(' ');
    watches.get(requestId)?.(Number(mails));
  };
  const listening = await listenOn.listen(channel, onNotification).catch((err: unknown) => {
    log.warn({ err }, 'waiting requests look for themselves: no notifications');
  });

  /** To be called before the claims are committed: what finishes before that is not counted. */
  function watch(requestId: string): MailWatch {
    let finished = 0;
    let enough = Number.POSITIVE_INFINITY;
    let onEnough = () => {};
    watches.set(requestId, (mails) => {
      finished += mails;
      if (finished >= enough) onEnough();
    });
    return {
      finishedCount: () => finished,
      waitForCount(mails, remainingMs) {
        if (finished >= mails || remainingMs <= 0) return Promise.resolve();
        return new Promise((resolve) => {
          const timer = setTimeout(resolve, Math.min(recheckMs, remainingMs));
          enough = mails;
          onEnough = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      },
      end: () => watches.delete(requestId),
    };
  }

  /** Takes the request of each finished mail. */
  async function notify(requestIds: readonly string[]) {
    for (const [requestId, { length }] of Map.groupBy(requestIds, (each) => each)) {
      const count = watches.get(requestId);
      if (count) count(length);
      else await db.notify(channel, `${requestId} ${length}`);
    }
  }

  const stop = async () => {
    await listening?.unlisten().catch(() => {});
  };

  return { watch, notify, stop };
}
