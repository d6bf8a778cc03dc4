import { randomUUID } from 'node:crypto';
import type { Writer } from '../audit/acts.ts';
import { withinMs } from '../lib/async/deadline.ts';
import type { Db } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { enqueueSpan } from '../lib/queue/task.ts';
import { inSpan } from '../lib/tracing/spans.ts';
import { sendAnswered } from '../signals.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { type Claimed, claim, dryRunClaim } from './claim.ts';
import { publishEnded } from './mail-job.ts';
import { cancelClaims, hasOpenMails, listResults, type SendResult } from './queries.ts';
import {
  blockReasons,
  deadlineReason,
  inFlight,
  type Judgement,
  readContact,
  type SubmittedContact,
  unknownOutcome,
  wasBlocked,
} from './rules.ts';

export type SendTools = {
  db: Db;
  progress: Pick<SendProgress, 'watch'>;
  settings: { sendDeadlineSeconds: number };
};

type SendRequest = { surveyId: string; contacts: readonly unknown[]; traceparent: string | null };

export type ContactResult = {
  email: string;
  status: 'sent' | 'duplicate' | 'invalid' | 'failed';
  reason?: string;
  reason_code?: string;
};

export async function sendSurvey(tools: SendTools, { orgId, actor }: Writer, request: SendRequest) {
  const survey = { orgId, surveyId: request.surveyId };
  const submitted = request.contacts.map((contact) => readContact(contact));
  const requestId = randomUUID();
  const watch = tools.progress.watch(requestId);
  try {
    const claimed = await inSpan(
      { traceparent: request.traceparent, agoMs: 0 },
      () => enqueueSpan('sends.mail'),
      ({ traceparent }) => claim(tools.db, survey, { requestId, submitted, traceparent, actor }),
    );
    const outcomes =
      claimed.claimed.size > 0 ? await waitForAll(tools, orgId, requestId, watch) : new Map();
    const results = resultsOf(submitted, claimed, outcomes);
    sendAnswered.publish({ ...survey, results });
    return answer(survey, claimed, results);
  } finally {
    watch.end();
  }
}

export async function dryRunSend(tools: SendTools, { orgId }: Writer, request: SendRequest) {
  const survey = { orgId, surveyId: request.surveyId };
  const submitted = request.contacts.map((contact) => readContact(contact));
  const judged = await dryRunClaim(tools.db, survey, submitted);
  const sent = { status: 'sent', reason: null, reason_code: null } as const;
  const results = new Map([...judged.claimed].map((each) => [each, { key: each, ...sent }]));
  return answer(survey, judged, resultsOf(submitted, judged, results));
}

type Results = ReadonlyMap<string, SendResult>;

/** Waits for all outcomes. At the deadline, emails that have not begun are cancelled. */
async function waitForAll(
  { db, settings }: SendTools,
  orgId: string,
  requestId: string,
  watch: ReturnType<SendProgress['watch']>,
): Promise<Results> {
  const endsAt = Date.now() + settings.sendDeadlineSeconds * 1000;
  for (;;) {
    const remainingMs = endsAt - Date.now();
    await watch.next(Math.min(recheckMs, remainingMs));
    if (!(await hasOpenMails(db, orgId, requestId))) break;
    if (remainingMs > 0) continue;
    const cancelled = await cancelClaims(db, orgId, requestId, deadlineReason);
    for (const mail of cancelled) publishEnded(mail, 'failed');
    break;
  }
  const results = await listResults(db, orgId, requestId);
  return new Map(results.map((each) => [each.key, each]));
}

const resultsOf = (
  submitted: readonly SubmittedContact[],
  { judgements, claimed }: Claimed,
  results: Results,
): ContactResult[] =>
  submitted.map(({ email }, place) => ({
    email,
    ...resultOf(judgements[place]!, claimed, results),
  }));

function resultOf(judgement: Judgement, claimed: ReadonlySet<string>, results: Results) {
  if (!('send' in judgement)) {
    const { status, reason, reason_code } = judgement;
    return { status, reason, reason_code };
  }
  const { key } = judgement.send;
  if (!claimed.has(key)) return { status: 'duplicate' as const, ...inFlight };
  const { status, reason, reason_code } = results.get(key) ?? noResult;
  if (status === 'sent') return { status };
  return {
    status: wasBlocked(reason_code) ? ('duplicate' as const) : ('failed' as const),
    reason: reason ?? unknownOutcome,
    reason_code: reason_code ?? 'unknown_outcome',
  };
}

/** The mail was deleted with its contact: only an erasure does that while a mail is open. */
const noResult = { status: 'failed', ...blockReasons.erased } as const;

const answer = ({ surveyId }: OrgSurvey, { contacts }: Claimed, results: ContactResult[]) => ({
  survey_id: surveyId,
  contacts_queued: contacts.length,
  contacts: contacts.map(({ id, email, token }) => ({ id, email, token })),
  results,
  ...countResults(results),
});

function countResults(results: readonly ContactResult[]) {
  const count = (status: ContactResult['status']) =>
    results.filter((result) => result.status === status).length;
  return {
    sent: count('sent'),
    duplicates: count('duplicate'),
    invalid: count('invalid'),
    failed: count('failed'),
  };
}

const channel = 'askback_mails_finished';
const uuidLength = 36;
const recheckMs = 1000;

export type SendProgress = Awaited<ReturnType<typeof createSendProgress>>;

/**
 * Wakes waiting requests when a job in any process has finished their emails. A notification holds the id of the
 * request and an optional message. Behind a pooler, `listenOn` provides a session connection.
 */
export async function createSendProgress({
  db,
  log,
  listenOn = db,
}: {
  db: Db;
  log: Log;
  listenOn?: Db;
}) {
  const watches = new Map<string, (message: string) => void>();
  const listening = await listenOn
    .listen(channel, (payload) =>
      watches.get(payload.slice(0, uuidLength))?.(payload.slice(uuidLength)),
    )
    .catch((err: unknown) => {
      log.warn({ err }, 'cannot listen for finished emails: requests poll instead');
    });

  /** Call this before the claims are committed: emails that finish earlier wake nobody. */
  function watch(requestId: string) {
    let finished = Promise.withResolvers<string>();
    watches.set(requestId, (message) => finished.resolve(message));
    return {
      /** Resolves with the message of a notification since the last call, or with undefined after `ms`. */
      async next(ms: number) {
        const message = await withinMs(finished.promise, ms, () => undefined);
        finished = Promise.withResolvers();
        return message;
      },
      end: () => void watches.delete(requestId),
    };
  }

  async function report(requestId: string, message = '') {
    const wake = watches.get(requestId);
    if (wake) wake(message);
    else await db.notify(channel, requestId + message);
  }

  const stop = async () => {
    await listening?.unlisten().catch(() => {});
  };

  return { watch, report, stop };
}
