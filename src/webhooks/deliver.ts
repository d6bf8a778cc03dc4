import { enqueue, type NewJob } from '../jobs.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import type { FailureKind } from '../lib/outbound/post.ts';
import { inSpan } from '../lib/tracing/spans.ts';
import { attempted, deactivated } from '../signals.ts';
import {
  type AttemptRow,
  type ClaimedDelivery,
  lockStanding,
  type SavedAttempt,
  saveAttempts,
  saveStanding,
  type WebhookRef,
} from './delivery.queries.ts';
import { answerTimeoutMs, judge, standAfter, type Verdict } from './rules.ts';
import { deliveryHeaders } from './sign.ts';
import { attemptEnd, attemptSpan } from './spans.ts';

/** The guarded client: it never throws for what the other side does. */
export type Outbound = {
  post(
    url: string,
    request: { group: string; headers: Record<string, string>; body: string; deadlineMs: number },
  ): Promise<SubscriberAnswer>;
};

export type SubscriberAnswer = {
  statusCode: number | null;
  body: string;
  error: string | null;
  errorKind: FailureKind | null;
  durationMs: number;
};

export type DeliverTools = {
  outbound: Outbound;
  secrets: Secrets;
  settings: { serviceName: string };
};

export type AttemptOutcome = {
  delivery: ClaimedDelivery;
  answer: SubscriberAnswer;
  verdict: Verdict;
  at: Date;
  /** The span of the attempt. */
  traceparent: string | null;
};

/** One attempt at one delivery. Whatever the subscriber does is an outcome. */
export async function attempt(
  tools: DeliverTools,
  delivery: ClaimedDelivery,
): Promise<AttemptOutcome> {
  const { traceparent, created_at } = delivery;
  const cause = { traceparent, agoMs: Date.now() - created_at.getTime() };
  return await inSpan(
    cause,
    () => attemptSpan(delivery.url, attemptFacts(delivery)),
    async (own) => {
      const at = new Date();
      const answer = withoutNames(
        await post(tools, delivery, { at, traceparent: own.traceparent }),
      );
      const verdict = judge({ ...answer, event: delivery.event, number: delivery.attempts + 1 });
      own.ended(() => attemptEnd({ ...answer, delivered: verdict.status === 'delivered' }));
      return { delivery, answer, verdict, at, traceparent: own.traceparent };
    },
  );
}

const attemptFacts = ({ id, webhook_id, event, attempts }: ClaimedDelivery) => ({
  ...{ deliveryId: id, webhookId: webhook_id, event, attempt: attempts + 1 },
});

type AttemptSpan = { at: Date; traceparent: string | null };

function post(tools: DeliverTools, delivery: ClaimedDelivery, { at, traceparent }: AttemptSpan) {
  const context = { orgId: delivery.org_id, id: delivery.webhook_id };
  const open = (sealed: Uint8Array) => tools.secrets.open(context, sealed);
  return tools.outbound.post(delivery.url, {
    group: delivery.org_id,
    headers: deliveryHeaders(tools.settings.serviceName, {
      id: delivery.id,
      messageId: delivery.message_id,
      event: delivery.event,
      body: delivery.body,
      at,
      secret: open(delivery.secret),
      previousSecret: delivery.previous_secret && open(delivery.previous_secret),
      traceparent,
    }),
    body: delivery.body,
    deadlineMs: answerTimeoutMs,
  });
}

/**
 * A name that does not resolve and one that leads to a forbidden address get the same sentence, so that a
 * webhook cannot find out which names exist inside the operator's network.
 */
const withoutNames = (answer: SubscriberAnswer): SubscriberAnswer =>
  answer.errorKind === 'dns' || answer.errorKind === 'forbidden'
    ? { ...answer, error: 'the url leads to no address that may be reached', durationMs: 0 }
    : answer;

/** No connection was free, or this process ended the attempt: not the subscriber's fault. */
export const isOurFault = ({ errorKind }: SubscriberAnswer) =>
  errorKind === 'busy' || errorKind === 'cancelled';

/**
 * Records attempts of one webhook's deliveries and all that follows: the retries, the webhook's failures,
 * and whether it is switched off. Returns whether jobs were written.
 */
export async function record(
  db: Db,
  webhook: WebhookRef,
  outcomes: readonly AttemptOutcome[],
): Promise<boolean> {
  const { counted, retries, switchedOff } = await inTransaction(db, (tx) =>
    write(tx, webhook, outcomes),
  );
  for (const outcome of counted) attempted.publish(toSignal(outcome));
  if (switchedOff) deactivated.publish({ orgId: webhook.org_id, webhookId: webhook.webhook_id });
  return retries > 0 || switchedOff;
}

async function write(tx: Sql, webhook: WebhookRef, outcomes: readonly AttemptOutcome[]) {
  const before = await lockStanding(tx, webhook);
  if (!before) return { counted: [], retries: 0, switchedOff: false };

  const saved = await saveAttempts(tx, webhook, outcomes.map(toRow));
  const ids = new Set(saved.map(({ id }) => id));
  const counted = outcomes.filter(({ delivery }) => ids.has(delivery.id));
  const standing = standAfter(counted.map(toResult), before.failure_count);
  await saveStanding(tx, webhook, {
    failures: standing.failures,
    deactivatedReason: before.active ? standing.deactivatedReason : null,
  });

  // Named one by one: a caller may hand in a row with more fields, which must not go into the queue.
  const payload = { org_id: webhook.org_id, webhook_id: webhook.webhook_id };
  const retries = retriesOf(payload, saved);
  await enqueue(tx, retries);
  const switchedOff = before.active && standing.deactivatedReason !== null;
  if (switchedOff) {
    const traceparent = counted.at(-1)?.traceparent ?? null;
    await enqueue(tx, [{ task: 'webhooks.notify_deactivated', payload, traceparent }]);
  }
  return { counted, retries: retries.length, switchedOff };
}

/** Attempts at a delivery are siblings: a retry, too, belongs to the cause of the delivery. */
const retriesOf = (payload: WebhookRef, saved: readonly SavedAttempt[]): NewJob[] =>
  saved.flatMap(({ next_attempt_at: runAt, traceparent }) =>
    runAt ? [{ task: 'webhooks.deliver', payload, runAt, traceparent }] : [],
  );

const toResult = ({ delivery, answer, verdict }: AttemptOutcome) => ({
  event: delivery.event,
  status: verdict.status,
  statusCode: answer.statusCode,
  error: answer.error,
});

export function toSignal(outcome: AttemptOutcome) {
  const { delivery, answer, verdict } = outcome;
  return {
    orgId: delivery.org_id,
    ...attemptFacts(delivery),
    outcome: verdict.status === 'pending' ? ('retry' as const) : verdict.status,
    statusCode: answer.statusCode,
    error: answer.errorKind,
    ms: answer.durationMs,
    sinceMs: Math.max(Date.now() - delivery.created_at.getTime(), 0),
    traceparent: outcome.traceparent,
  };
}

function toRow({ delivery, answer, verdict, at, traceparent }: AttemptOutcome): AttemptRow {
  return {
    id: delivery.id,
    number: delivery.attempts + 1,
    status: verdict.status,
    status_code: answer.statusCode,
    response_body: answer.statusCode === null ? null : answer.body,
    error: answer.error,
    duration_ms: answer.durationMs,
    at,
    traceparent,
    retry_in_seconds: verdict.retryInSeconds,
  };
}
