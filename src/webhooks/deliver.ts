import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import type { FailureKind } from '../lib/outbound/post.ts';
import { enqueue, type NewJob } from '../lib/queue/outbox.ts';
import { attemptEnd, attemptSpan } from '../lib/tracing/conventions.ts';
import { inSpan } from '../lib/tracing/spans.ts';
import { attempted, deactivated } from '../signals.ts';
import {
  type AttemptRow,
  type ClaimedDelivery,
  type Lane,
  lockStanding,
  type SavedAttempt,
  saveAttempts,
  saveStanding,
} from './delivery.queries.ts';
import { deliveryHeaders } from './headers.ts';
import { type Attempt, answerTimeoutMs, judge, standAfter } from './rules.ts';

/** The guarded client: it never throws for what the other side does. */
export type Outbound = {
  post(
    url: string,
    request: { group: string; headers: Record<string, string>; body: string; deadlineMs: number },
  ): Promise<Answer>;
};

export type Answer = {
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

export type Outcome = {
  delivery: ClaimedDelivery;
  answer: Answer;
  at: Date;
  /** The span of the attempt. */
  traceparent: string | null;
};

/** One attempt at one delivery. Whatever the subscriber does is an outcome. */
export async function attempt(tools: DeliverTools, delivery: ClaimedDelivery): Promise<Outcome> {
  const { traceparent, created_at } = delivery;
  const cause = { traceparent, agoMs: Date.now() - created_at.getTime() };
  return await inSpan(
    cause,
    () => attemptSpan(delivery.url, whichAttempt(delivery)),
    async (own) => {
      const posted = await post(tools, delivery, own.traceparent);
      const outcome = { ...posted, delivery, traceparent: own.traceparent };
      own.ended(() => {
        const { status } = judge(attemptOf(outcome));
        return attemptEnd({ ...outcome.answer, delivered: status === 'delivered' });
      });
      return outcome;
    },
  );
}

const whichAttempt = ({ id, webhook_id, event, attempts }: ClaimedDelivery) => ({
  ...{ deliveryId: id, webhookId: webhook_id, event, attempt: attempts + 1 },
});

async function post(tools: DeliverTools, delivery: ClaimedDelivery, traceparent: string | null) {
  const at = new Date();
  const context = { orgId: delivery.org_id, id: delivery.webhook_id };
  const open = (sealed: Uint8Array) => tools.secrets.open(context, sealed);
  const answer = await tools.outbound.post(delivery.url, {
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
  return { answer, at };
}

/** No connection was free, or we hung up ourselves: the subscriber is not to answer for that. */
export const isOurFault = ({ errorKind }: Answer) =>
  errorKind === 'busy' || errorKind === 'cancelled';

/**
 * Records attempts of one webhook's deliveries and all that follows: the retries, how the webhook
 * stands, and whether it is switched off. Says whether jobs were written.
 */
export async function record(db: Db, lane: Lane, outcomes: readonly Outcome[]): Promise<boolean> {
  const { counted, retries, switchedOff } = await inTransaction(db, (tx) =>
    write(tx, lane, outcomes),
  );
  for (const outcome of counted) attempted.publish(factsOf(outcome));
  if (switchedOff) deactivated.publish({ orgId: lane.org_id, webhookId: lane.webhook_id });
  return retries > 0 || switchedOff;
}

async function write(tx: Sql, lane: Lane, outcomes: readonly Outcome[]) {
  const webhook = await lockStanding(tx, lane);
  if (!webhook) return { counted: [], retries: 0, switchedOff: false };

  const saved = await saveAttempts(tx, lane, outcomes.map(attemptRow));
  const news = new Set(saved.map(({ id }) => id));
  const counted = outcomes.filter(({ delivery }) => news.has(delivery.id));
  const standing = standAfter(counted.map(attemptOf), webhook.failure_count);
  await saveStanding(tx, lane, {
    failures: standing.failures,
    deactivatedReason: webhook.active ? standing.deactivatedReason : null,
  });

  // Named one by one: what is handed in as a lane may carry much more, and would all go into the queue.
  const payload = { org_id: lane.org_id, webhook_id: lane.webhook_id };
  const retries = retriesOf(payload, saved);
  await enqueue(tx, retries);
  const switchedOff = webhook.active && standing.deactivatedReason !== null;
  if (switchedOff) {
    const traceparent = counted.at(-1)?.traceparent ?? null;
    await enqueue(tx, [{ task: 'webhooks.tell_deactivation', payload, traceparent }]);
  }
  return { counted, retries: retries.length, switchedOff };
}

/** Attempts at a delivery are siblings: a retry, too, belongs to what made the delivery. */
const retriesOf = (payload: Lane, saved: readonly SavedAttempt[]): NewJob[] =>
  saved.flatMap(({ next_attempt_at: runAt, traceparent }) =>
    runAt ? [{ task: 'webhooks.deliver', payload, runAt, traceparent }] : [],
  );

const attemptOf = ({ delivery, answer }: Pick<Outcome, 'delivery' | 'answer'>): Attempt => ({
  event: delivery.event,
  number: delivery.attempts + 1,
  statusCode: answer.statusCode,
  error: answer.error,
});

function factsOf(outcome: Outcome) {
  const { delivery, answer } = outcome;
  const { status } = judge(attemptOf(outcome));
  return {
    orgId: delivery.org_id,
    webhookId: delivery.webhook_id,
    deliveryId: delivery.id,
    event: delivery.event,
    attempt: delivery.attempts + 1,
    outcome: status === 'pending' ? ('retry' as const) : status,
    statusCode: answer.statusCode,
    error: answer.errorKind,
    ms: answer.durationMs,
    sinceMs: Math.max(Date.now() - delivery.created_at.getTime(), 0),
    traceparent: outcome.traceparent,
  };
}

function attemptRow(outcome: Outcome): AttemptRow {
  const { delivery, answer, at } = outcome;
  const { status, retryInSeconds } = judge(attemptOf(outcome));
  return {
    id: delivery.id,
    number: delivery.attempts + 1,
    status,
    status_code: answer.statusCode,
    response_body: answer.statusCode === null ? null : answer.body,
    error: answer.error,
    duration_ms: answer.durationMs,
    at,
    traceparent: outcome.traceparent,
    retry_in_seconds: retryInSeconds,
  };
}
