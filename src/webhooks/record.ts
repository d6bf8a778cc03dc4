import { jobActor } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { enqueue, type NewJob } from '../jobs.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { attempted, deactivated } from '../signals.ts';
import { type AttemptOutcome, toSignal } from './deliver.ts';
import type { WebhookRef } from './delivery.queries.ts';
import { type AttemptRow, lockStanding, saveAttempts, saveStanding } from './outcome.queries.ts';
import { standAfter } from './rules.ts';

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
  const dueAgain = new Map(saved.map((row) => [row.id, row.next_attempt_at]));
  const counted = outcomes.filter(({ delivery }) => dueAgain.has(delivery.id));
  if (counted.length === 0) return { counted, retries: 0, switchedOff: false };
  const standing = standAfter(counted.map(toResult), {
    retries: before.retries,
    failures: before.failure_count,
    undeliveredSeconds: before.undelivered_seconds,
  });
  await saveStanding(tx, webhook, {
    ...standing,
    deactivatedReason: before.active ? standing.deactivatedReason : null,
  });

  // Named one by one: a caller may hand in a row with more fields, which must not go into the queue.
  const payload = { org_id: webhook.org_id, webhook_id: webhook.webhook_id };
  const retries = retriesOf(payload, counted, dueAgain);
  await enqueue(tx, retries);
  const switchedOff = before.active && standing.deactivatedReason !== null;
  const traceparent = counted.at(-1)?.traceparent ?? null;
  if (switchedOff || (!before.active && retries.length > 0)) {
    // Skips what waits for its next attempt, which may be hours away.
    await enqueue(tx, [{ task: 'webhooks.deliver', payload, traceparent }]);
  }
  if (switchedOff) {
    await enqueue(tx, [{ task: 'webhooks.notify_deactivated', payload, traceparent }]);
    await recordAct(tx, {
      orgId: webhook.org_id,
      actor: jobActor('webhooks.deliver'),
      act: 'webhook.switched_off',
      target: { kind: 'webhook', id: webhook.webhook_id },
      details: { failures: standing.failures },
    });
  }
  return { counted, retries: retries.length, switchedOff };
}

/** Attempts at a delivery are siblings: a retry, too, belongs to the cause of the delivery. */
const retriesOf = (
  payload: WebhookRef,
  counted: readonly AttemptOutcome[],
  dueAgain: ReadonlyMap<string, Date | null>,
): NewJob[] =>
  counted.flatMap(({ delivery, traceparent }) => {
    const runAt = dueAgain.get(delivery.id);
    const cause = delivery.traceparent ?? traceparent;
    return runAt ? [{ task: 'webhooks.deliver', payload, runAt, traceparent: cause }] : [];
  });

const toResult = ({ delivery, answer, verdict }: AttemptOutcome) => ({
  event: delivery.event,
  status: verdict.status,
  statusCode: answer.statusCode,
  error: answer.error,
});

export function toRow({ delivery, answer, verdict, at, traceparent }: AttemptOutcome): AttemptRow {
  return {
    id: delivery.id,
    number: delivery.attempts + 1,
    status: verdict.status,
    status_code: answer.statusCode,
    response_body: answer.statusCode === null ? null : answer.body,
    error: answer.error,
    duration_ms: answer.durationMs,
    at,
    traceparent: delivery.traceparent === null ? traceparent : null,
    retry_in_seconds: verdict.retryInSeconds,
  };
}
