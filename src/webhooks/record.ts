import { setTimeout as sleep } from 'node:timers/promises';
import { jobActor, recordAct } from '../audit/acts.ts';
import { enqueue, type NewJob } from '../jobs.ts';
import { createBatch } from '../lib/async/batch.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { ofGroup } from '../lib/db/fair-pool.ts';
import { createOutage, type Log, type Outage } from '../lib/log/log.ts';
import { attempted, deactivated } from '../signals.ts';
import { type AttemptOutcome, toSignal, type WebhookRef } from './deliver.ts';
import { type RetryKind, type Standing, standAfter } from './rules.ts';

const maxInBatch = 500;
const tryAgainMs = 500;
const lines = { begins: 'attempts not recorded yet', over: 'attempts are recorded again' };

type RecordTools = { db: Db; log: Log };

/**
 * Records outcomes webhook by webhook, in batches: those that come while one batch is written go into the next. While
 * Postgres is away outcomes stay in memory: they are written when it is back.
 */
export function createRecorder({ db, log }: RecordTools) {
  const batches = new Map<
    string,
    { add: (outcome: AttemptOutcome) => Promise<void>; waiting: number }
  >();
  const outage = createOutage(log, lines);

  function batchOf({ org_id, webhook_id }: WebhookRef) {
    const existing = batches.get(webhook_id);
    if (existing) return existing;
    const own = ofGroup(db, org_id);
    const batch = createBatch<AttemptOutcome, void>(
      {
        write: async (outcomes) => {
          await record(own, { org_id, webhook_id }, outcomes);
          return [];
        },
      },
      { most: maxInBatch },
    );
    return { add: batch.add, waiting: 0 };
  }

  return async (outcome: AttemptOutcome) => {
    const { webhook_id } = outcome.delivery;
    const batch = batchOf(outcome.delivery);
    batches.set(webhook_id, batch);
    batch.waiting += 1;
    await untilDone(outage, () => batch.add(outcome));
    batch.waiting -= 1;
    if (batch.waiting === 0) batches.delete(webhook_id);
  };
}

async function untilDone(outage: Outage, write: () => Promise<void>) {
  for (;;) {
    try {
      await write();
      outage.worked(write);
      return;
    } catch (err) {
      outage.failed(write, { err });
      await sleep(tryAgainMs);
    }
  }
}

/**
 * Records attempts of one webhook's deliveries and all that follows: the retries, the webhook's failures,
 * and the end of a webhook that fails for too long.
 */
export async function record(
  db: Db,
  webhook: WebhookRef,
  outcomes: readonly AttemptOutcome[],
): Promise<void> {
  const { counted, switchedOff } = await inTransaction(db, (tx) => write(tx, webhook, outcomes));
  for (const outcome of counted) attempted.publish(toSignal(outcome));
  if (switchedOff) deactivated.publish({ orgId: webhook.org_id, webhookId: webhook.webhook_id });
}

async function write(tx: Sql, webhook: WebhookRef, outcomes: readonly AttemptOutcome[]) {
  const before = await lockStanding(tx, webhook);
  if (!before) return { counted: [], switchedOff: false };

  const saved = await saveAttempts(tx, webhook, outcomes.map(toRow));
  const dueAgain = new Map(saved.map((row) => [row.id, row.next_attempt_at]));
  const counted = outcomes.filter(({ delivery }) => dueAgain.has(delivery.id));
  if (counted.length === 0) return { counted, switchedOff: false };
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
  return { counted, switchedOff };
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
    traceparent: delivery.traceparent === null ? traceparent : null,
    retry_in_seconds: verdict.retryInSeconds,
  };
}

type LockedStanding = {
  active: boolean;
  failure_count: number;
  retries: RetryKind;
  undelivered_seconds: number;
};

/** Locks the webhook, so that the outcomes of several deliveries are counted one after the other. */
export async function lockStanding(sql: Sql, { org_id, webhook_id }: WebhookRef) {
  const [webhook] = await sql<LockedStanding[]>`
    select active, failure_count, retries,
           extract(epoch from now() - undelivered_since)::float8 as undelivered_seconds
    from webhooks
    where org_id = ${org_id} and id = ${webhook_id}
    for no key update`;
  return webhook;
}

type AttemptRow = {
  id: string;
  number: number;
  status: 'delivered' | 'pending' | 'failed';
  status_code: number | null;
  response_body: string | null;
  error: string | null;
  duration_ms: number;
  at: Date;
  traceparent: string | null;
  retry_in_seconds: number | null;
};

type SavedAttempt = { id: string; next_attempt_at: Date | null };

/**
 * Writes attempts and what they mean for their deliveries, and returns those that were new: an attempt
 * that is written already, because the answer to the first statement was lost, changes nothing again. A
 * delivery without a trace of its cause gets the trace of its first attempt.
 */
export async function saveAttempts(
  sql: Sql,
  { org_id, webhook_id }: WebhookRef,
  attempts: readonly AttemptRow[],
) {
  return await sql<SavedAttempt[]>`
    with attempt as materialized (
      select *
      from json_to_recordset(${JSON.stringify(attempts)}::text::json) as a (
        id uuid, number smallint, status text, status_code smallint, response_body text, error text,
        duration_ms integer, at timestamptz, traceparent text, retry_in_seconds double precision)
    ), retried as (
      update pending_deliveries d
      set attempts = a.number, status_code = a.status_code, response_body = a.response_body,
          claimed_by = null, next_attempt_at = now() + make_interval(secs => a.retry_in_seconds),
          traceparent = coalesce(d.traceparent, a.traceparent)
      from attempt a
      where d.org_id = ${org_id} and d.webhook_id = ${webhook_id} and d.attempts = a.number - 1
        and d.id = a.id and a.status = 'pending'
      returning d.id, d.next_attempt_at
    ), gone as (
      delete from pending_deliveries d
      using attempt a
      where d.org_id = ${org_id} and d.webhook_id = ${webhook_id} and d.attempts = a.number - 1
        and d.id = a.id and a.status <> 'pending'
      returning d.*
    ), ended as (
      insert into ended_deliveries (org_id, webhook_id, id, event_id, message_id, undelivered, attempts, status_code,
                                    response_body, duration_ms, traceparent, is_test, is_replay, delivered_at)
      select d.org_id, d.webhook_id, d.id, d.event_id, d.message_id, nullif(a.status, 'delivered'), a.number, a.status_code,
             a.response_body, case when a.status = 'delivered' then a.duration_ms end,
             coalesce(d.traceparent, a.traceparent), d.is_test, d.is_replay,
             case when a.status = 'delivered' then now() end
      from gone d
      join attempt a using (id)
      returning id
    ), recorded_now as (
      select id, next_attempt_at from retried
      union all
      select id, null from ended
    ), recorded as (
      insert into delivery_attempts
        (org_id, webhook_id, delivery_id, number, status_code, response_body, error, duration_ms, at)
      select ${org_id}, ${webhook_id}, id, number, status_code, response_body, error, duration_ms, at
      from attempt
      join recorded_now using (id)
      where attempt.status <> 'delivered'
      on conflict (webhook_id, delivery_id, number) do nothing
    )
    select id, next_attempt_at
    from recorded_now`;
}

async function saveStanding(
  sql: Sql,
  { org_id, webhook_id }: WebhookRef,
  { failures, hasDelivered, deactivatedReason }: Standing,
) {
  await sql`
    update webhooks
    set failure_count = ${failures}, last_delivery_at = now(),
        undelivered_since = case when ${hasDelivered} then now() else undelivered_since end,
        active = active and ${deactivatedReason}::text is null,
        deactivated_at = case when ${deactivatedReason}::text is null then deactivated_at else now() end,
        deactivated_reason = coalesce(${deactivatedReason}, deactivated_reason)
    where org_id = ${org_id} and id = ${webhook_id}`;
}
