import { randomUUID } from 'node:crypto';
import type { WriteKey } from '../keys/authenticate.ts';
import type { Db } from '../lib/db/db.ts';
import { enqueueSpan } from '../lib/queue/spans.ts';
import { inSpan } from '../lib/tracing/spans.ts';
import { mailed, sendAnswered } from '../signals.ts';
import { type Claimed, claim, judgeOnly, type Where } from './claim.ts';
import { listResults, type SendResult } from './queries.ts';
import {
  type Judgement,
  readContact,
  type Submitted,
  unknownOutcome,
  wasKeptBack,
} from './rules.ts';
import type { SendProgress, Watch } from './send-progress.ts';
import { endedFacts } from './settled.ts';
import { cancelClaims } from './settling.queries.ts';

export type SendTools = {
  db: Db;
  pump: () => void;
  waiting: Pick<SendProgress, 'watch'>;
  settings: { sendDeadlineSeconds: number };
};

type Wish = { surveyId: string; contacts: readonly unknown[]; traceparent: string | null };

export type Result = {
  email: string;
  status: 'sent' | 'duplicate' | 'invalid' | 'failed';
  reason?: string;
  reason_code?: string;
};

/** Sends a survey to contacts and answers when every one of them has a final status. */
export async function sendSurvey(tools: SendTools, key: WriteKey, wish: Wish) {
  const where = { orgId: key.org_id, surveyId: wish.surveyId };
  const submitted = wish.contacts.map((contact) => readContact(contact));
  const requestId = randomUUID();
  const watch = tools.waiting.watch(requestId);
  try {
    const claimed = await inSpan(
      { traceparent: wish.traceparent, agoMs: 0 },
      () => enqueueSpan('sends.mail'),
      ({ traceparent }) => claim(tools.db, where, { requestId, submitted, traceparent }),
    );
    tools.pump();
    const mails = claimed.claimed.size;
    const known = await waitForAll(tools, where, { requestId, mails, watch });
    const results = resultsOf(submitted, claimed, known);
    sendAnswered.publish({ ...where, results });
    return answer(where, claimed, results);
  } finally {
    watch.end();
  }
}

/** What a send would do: the same judgement and the same answer, nothing written, nothing sent. */
export async function trySend(tools: SendTools, key: WriteKey, wish: Wish) {
  const where = { orgId: key.org_id, surveyId: wish.surveyId };
  const submitted = wish.contacts.map((contact) => readContact(contact));
  const judged = await judgeOnly(tools.db, where, submitted);
  const sent = { status: 'sent', reason: null, reason_code: null } as const;
  const results = new Map([...judged.claimed].map((each) => [each, { key: each, ...sent }]));
  return answer(where, judged, resultsOf(submitted, judged, results));
}

type Results = ReadonlyMap<string, SendResult>;

type Wait = { requestId: string; mails: number; watch: Watch };

/** After the deadline, what nobody has begun is taken back, and what is on its way has no outcome yet. */
async function waitForAll(
  tools: SendTools,
  { orgId }: Where,
  { requestId, mails, watch }: Wait,
): Promise<Results> {
  if (mails === 0) return new Map();
  const endsAt = Date.now() + tools.settings.sendDeadlineSeconds * 1000;
  for (let enough = mails; ; ) {
    const remaining = endsAt - Date.now();
    await watch.until(enough, remaining);
    const told = watch.told();
    const results = await listResults(tools.db, orgId, requestId);
    const open = results.filter(({ status }) => !isFinal(status)).length;
    if (open === 0) return byKey(results);
    if (remaining <= 0) break;
    enough = told + open;
  }
  const tooLate = 'not sent within the time of the request';
  const cancelled = await cancelClaims(tools.db, orgId, requestId, tooLate);
  for (const mail of cancelled) mailed.publish(endedFacts(mail, 'failed'));
  return byKey(await listResults(tools.db, orgId, requestId));
}

const isFinal = (status: SendResult['status']) => status !== 'claimed' && status !== 'sending';
const byKey = (results: readonly SendResult[]) => new Map(results.map((each) => [each.key, each]));

function resultsOf(
  submitted: readonly Submitted[],
  { judgements, claimed }: Claimed,
  results: Results,
): Result[] {
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
  if (reason && reason_code && wasKeptBack(reason_code)) {
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

const noResult = { status: 'unknown', reason: null, reason_code: null } as const;

function answer({ surveyId }: Where, { contacts }: Claimed, results: Result[]) {
  const count = (status: Result['status']) =>
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
