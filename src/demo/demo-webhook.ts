import { randomUUID } from 'node:crypto';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Sql } from '../lib/db/db.ts';
import { detractorDetected, responseReceived, type WebhookEvent } from '../webhooks/events.ts';
import {
  insertPastDeliveries,
  insertPastWebhook,
  type PastAttempt,
  type PastDelivery,
} from '../webhooks/past.queries.ts';
import { newSecret } from '../webhooks/sign.ts';
import { listNewestAnswers, type PastAnswer } from './queries.ts';

/** A name that is reserved for examples: nothing is ever posted to anybody. */
const url = 'https://crm.larkspur.example/hooks/feedback';
const answersNotified = 120;
/** The newest answers found it switched off, after the failures before them. */
const skippedAnswers = 9;
const failedDeliveries = 3;
const retryMs = 5_000;
const reason = `${failedDeliveries} deliveries in a row failed, the last with: status 503`;
const unavailable = '<html><h1>503 Service Unavailable</h1></html>';

type DemoWebhook = { secrets: Pick<Secrets, 'seal'>; now: Date };

/** A webhook that has delivered for weeks, until its receiver was down: what to do about it can be tried. */
export async function addDemoWebhook(tx: Sql, orgId: string, { secrets, now }: DemoWebhook) {
  const answers = await listNewestAnswers(tx, orgId, answersNotified);
  const events = answers.flatMap(eventsOf);
  const skipped = events.filter(({ at }) => at >= answers.at(-skippedAnswers)!.created_at).length;
  const failedFrom = events.length - skipped - failedDeliveries;
  const deliveries = events.map((event, place) => {
    if (place >= failedFrom + failedDeliveries) return pastDelivery(event, place, 'skipped');
    return pastDelivery(event, place, place >= failedFrom ? 'failed' : 'delivered');
  });
  const id = randomUUID();
  const last = deliveries.findLast(({ status }) => status === 'delivered');
  const lastFailed = deliveries.findLast(({ status }) => status === 'failed');
  await insertPastWebhook(tx, orgId, {
    id,
    url,
    events: ['response.received', 'detractor.detected'],
    description: 'Customer records',
    secret: secrets.seal({ owner: orgId, id }, newSecret()),
    created_at: answers[0]?.created_at ?? now,
    deactivated_at: lastFailed?.created_at ?? now,
    deactivated_reason: reason,
    failure_count: failedDeliveries,
    last_delivery_at: last?.delivered_at ?? null,
  });
  await insertPastDeliveries(tx, { orgId, webhookId: id }, deliveries);
}

type PastEvent = WebhookEvent & { at: Date };

/** No comment of the demo has a name in it: its excerpt is the comment. */
function eventsOf(answer: PastAnswer): PastEvent[] {
  const { id: responseId, survey_id: surveyId, type, score, comment, created_at: at } = answer;
  const facts = { surveyId, responseId, surveyType: type, score, at };
  const received = { ...responseReceived({ ...facts, comment }), at };
  if (answer.category !== 'detractor') return [received];
  return [received, { ...detractorDetected({ ...facts, excerpt: comment }), at }];
}

/** Every thirteenth needed a second attempt. */
const secondAttemptEvery = 13;

function pastDelivery(
  { type, body, at }: PastEvent,
  place: number,
  status: PastDelivery['status'],
): PastDelivery {
  const tries =
    status === 'failed' ? 2 : status === 'skipped' ? 0 : place % secondAttemptEvery ? 0 : 1;
  const failed = Array.from({ length: tries }, (_, number): PastAttempt => {
    const then = new Date(at.getTime() + number * retryMs);
    return { status_code: 503, response_body: unavailable, duration_ms: 210 + place, at: then };
  });
  const delivery = { event: type, body, status, created_at: at, failed };
  const none = { delivered_at: null, status_code: null, duration_ms: null, response_body: null };
  if (status === 'skipped') return { ...delivery, ...none };
  if (status === 'failed') {
    return { ...delivery, ...none, status_code: 503, response_body: unavailable };
  }
  const duration_ms = 38 + ((place * 29) % 140);
  const delivered_at = new Date(at.getTime() + tries * retryMs + duration_ms);
  return { ...delivery, delivered_at, status_code: 200, duration_ms, response_body: 'ok' };
}
