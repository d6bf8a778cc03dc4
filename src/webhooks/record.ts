import { setTimeout as sleep } from 'node:timers/promises';
import { jobActor, recordAct } from '../audit/acts.ts';
import { enqueue, type NewJob } from '../jobs.ts';
import { createBatch } from '../lib/async/batch.ts';
import {
  type Db,
  inTransaction,
  isLockTimeout,
  lockTimeout,
  type Part,
  type Sql,
} from '../lib/db/db.ts';
import { poolForGroup } from '../lib/db/fair-pool.ts';
import { createOutage, type Log } from '../lib/log/log.ts';
import { attempted, deactivated } from '../signals.ts';
import { type AttemptOutcome, bodyOf, toSignal } from './deliver.ts';
import type { WebhookRef } from './delivery.queries.ts';
import type { WebhookRow } from './queries.ts';
import { standAfter } from './rules.ts';

const batch = { maxItems: 500, lingerMs: 20 };
const tryAgainMs = 500;
const lines = { begins: 'cannot record attempts, retrying', over: 'recording attempts again' };
/** After this wait, outcomes are written per webhook. */
const deliveryLockMs = 2;

/**
 * Records outcomes. Delivered outcomes are written in one statement per batch, across webhooks. Failures are written
 * per webhook under its lock, so that they delay no other webhook. Deliveries whose webhook is locked or has failures
 * to reset are left out of the batch and written in the same way. While Postgres is away, outcomes wait in memory.
 */
export function createRecorder({ db, log }: { db: Db; log: Log }) {
  const outage = createOutage(log, lines);
  const delivered = createBatch<AttemptOutcome, boolean>(
    { write: (outcomes) => recordDelivered(db, outcomes) },
    batch,
  );
  const byWebhook = new Map<string, ReturnType<typeof createOwnBatch>>();

  async function untilDone<T>(write: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const done = await write();
        outage.worked(write);
        return done;
      } catch (err) {
        outage.failed(write, { err });
        await sleep(tryAgainMs);
      }
    }
  }

  return async (outcome: AttemptOutcome) => {
    const isDelivered = outcome.verdict.status === 'delivered';
    if (isDelivered && (await untilDone(() => delivered.add(outcome)))) return;
    const { webhook_id } = outcome.delivery;
    const own = byWebhook.get(webhook_id) ?? createOwnBatch(db, outcome.delivery);
    byWebhook.set(webhook_id, own);
    own.waiting += 1;
    await untilDone(() => own.add(outcome));
    own.waiting -= 1;
    if (own.waiting === 0) byWebhook.delete(webhook_id);
  };
}

/** Returns false for deliveries that the statement left out. */
async function recordDelivered(db: Db, outcomes: readonly AttemptOutcome[]) {
  const saved = await saveDelivered(db, outcomes, deliveryLockMs).catch((error) =>
    isLockTimeout(error) ? [] : Promise.reject(error),
  );
  const ids = new Set(saved.map(({ id }) => id));
  for (const outcome of outcomes) {
    if (ids.has(outcome.delivery.id)) attempted.publish(toSignal(outcome));
  }
  return outcomes.map(({ delivery }) => ids.has(delivery.id));
}

function createOwnBatch(db: Db, webhook: WebhookRef) {
  const { add } = createBatch<AttemptOutcome, AttemptOutcome>(
    {
      write: async (outcomes) => {
        await record(poolForGroup(db, webhook.org_id), webhook, outcomes);
        return outcomes;
      },
    },
    { maxItems: batch.maxItems },
  );
  return { add, waiting: 0 };
}

/** Also schedules retries, counts failures and turns the webhook off. */
export async function record(db: Db, webhook: WebhookRef, outcomes: readonly AttemptOutcome[]) {
  const { counted, switchedOff } = await inTransaction(db, (tx) => write(tx, webhook, outcomes));
  for (const outcome of counted) attempted.publish(toSignal(outcome));
  if (switchedOff) deactivated.publish({ orgId: webhook.org_id, webhookId: webhook.webhook_id });
}

async function write(
  tx: Sql,
  { org_id, webhook_id }: WebhookRef,
  outcomes: readonly AttemptOutcome[],
) {
  const webhook = { org_id, webhook_id }; // also the payload of jobs
  const before = await lockStanding(tx, webhook);
  const saved = before ? await saveAttempts(tx, webhook, outcomes) : [];
  const dueAgain = new Map(saved.map((row) => [row.id, row.next_attempt_at]));
  const counted = outcomes.filter(({ delivery }) => dueAgain.has(delivery.id));
  if (!before || counted.length === 0) return { counted, switchedOff: false };

  const { failures, hasDelivered, deactivatedReason } = standAfter(
    counted.map(({ delivery, answer, verdict }) => ({
      event: delivery.event,
      status: verdict.status,
      statusCode: answer.statusCode,
      error: answer.error,
    })),
    {
      retries: before.retries,
      failures: before.failure_count,
      undeliveredSeconds: before.undelivered_seconds,
    },
  );
  const reason = before.active ? deactivatedReason : null;
  await tx`
    update webhooks
    set failure_count = ${failures}, last_delivery_at = now(),
        undelivered_since = case when ${hasDelivered} then now() else undelivered_since end,
        active = active and ${reason}::text is null,
        deactivated_at = case when ${reason}::text is null then deactivated_at else now() end,
        deactivated_reason = coalesce(${reason}, deactivated_reason)
    where org_id = ${org_id} and id = ${webhook_id}`;

  const retries = counted.flatMap(({ delivery, traceparent }): NewJob[] => {
    const runAt = dueAgain.get(delivery.id);
    // All attempts are siblings in the trace of the cause.
    const cause = delivery.traceparent ?? traceparent;
    return runAt ? [{ task: 'webhooks.deliver', payload: webhook, runAt, traceparent: cause }] : [];
  });
  await enqueue(tx, retries);
  const switchedOff = reason !== null;
  const traceparent = counted.at(-1)?.traceparent ?? null;
  if (switchedOff || (!before.active && retries.length > 0)) {
    // Skips pending retries now instead of hours later.
    await enqueue(tx, [{ task: 'webhooks.deliver', payload: webhook, traceparent }]);
  }
  if (switchedOff) {
    await enqueue(tx, [{ task: 'webhooks.notify_deactivated', payload: webhook, traceparent }]);
    await recordAct(tx, {
      orgId: org_id,
      actor: jobActor('webhooks.deliver'),
      act: 'webhook.switched_off',
      target: { kind: 'webhook', id: webhook_id },
      details: { failures },
    });
  }
  return { counted, switchedOff };
}

const toRow = ({ delivery, answer, verdict, at, traceparent }: AttemptOutcome) => ({
  org_id: delivery.org_id,
  webhook_id: delivery.webhook_id,
  id: delivery.id,
  number: delivery.attempts + 1,
  status: verdict.status,
  status_code: answer.statusCode,
  response_body: bodyOf(answer),
  error: answer.error,
  duration_ms: answer.durationMs,
  at,
  traceparent: delivery.traceparent === null ? traceparent : null,
  retry_in_seconds: verdict.retryInSeconds,
});

type LockedStanding = Pick<WebhookRow, 'active' | 'failure_count' | 'retries'> & {
  undelivered_seconds: number;
};

export async function lockStanding(sql: Sql, { org_id, webhook_id }: WebhookRef) {
  const [webhook] = await sql<LockedStanding[]>`
    select active, failure_count, retries,
           extract(epoch from now() - undelivered_since)::float8 as undelivered_seconds
    from webhooks
    where org_id = ${org_id} and id = ${webhook_id}
    for no key update`;
  return webhook;
}

/**
 * Idempotent: returns only the attempts that were not recorded before. A delivery without a trace gets the trace of
 * its first attempt.
 */
export async function saveAttempts(
  sql: Sql,
  { org_id, webhook_id }: WebhookRef,
  outcomes: readonly AttemptOutcome[],
) {
  return await sql<{ id: string; next_attempt_at: Date | null }[]>`
    with attempt as materialized (${attemptRows(sql, outcomes)}), retried as (
      update pending_deliveries d
      set attempts = a.number, status_code = a.status_code, response_body = a.response_body,
          claimed_by = null, next_attempt_at = now() + make_interval(secs => a.retry_in_seconds),
          traceparent = coalesce(d.traceparent, a.traceparent)
      from attempt a
      where d.org_id = ${org_id} and d.webhook_id = ${webhook_id} and d.attempts = a.number - 1
        and d.id = a.id and a.status = 'pending'
      returning d.id, d.next_attempt_at
    ), ${endedDeliveries(sql)}, recorded_now as (
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

/**
 * Returns the ids that it has written. Leaves out webhooks that are locked or have failures to reset, and attempts
 * recorded before. Fails if a delivery is locked for longer than `lockMs`. Updates each webhook at most once a second.
 */
async function saveDelivered(sql: Sql, outcomes: readonly AttemptOutcome[], lockMs: number) {
  return await sql<{ id: string }[]>`
    with made as materialized (${attemptRows(sql, outcomes)}), webhook as materialized (
      select w.org_id, w.id
      from webhooks w
      join (select distinct org_id, webhook_id from made) a on a.org_id = w.org_id and a.webhook_id = w.id
      where w.failure_count = 0
      for key share of w skip locked
    ), patience as (${lockTimeout(sql, lockMs)}), attempt as materialized (
      select a.*
      from patience, made a
      join webhook w on w.org_id = a.org_id and w.id = a.webhook_id
    ), ${endedDeliveries(sql)}, stale as materialized (
      select w.org_id, w.id, d.has_event
      from webhooks w
      join (
        select org_id, webhook_id, bool_or(not is_test) as has_event
        from ended
        group by org_id, webhook_id
      ) d on d.org_id = w.org_id and d.webhook_id = w.id
      where w.last_delivery_at is null or w.last_delivery_at < now() - interval '1 second'
        or d.has_event and w.undelivered_since < now() - interval '1 second'
      for no key update of w skip locked
    ), touched as (
      update webhooks w
      set last_delivery_at = now(),
          undelivered_since = case when has_event then now() else undelivered_since end
      from stale
      where w.org_id = stale.org_id and w.id = stale.id
    )
    select id from ended`;
}

const attemptRows = (sql: Sql, outcomes: readonly AttemptOutcome[]): Part => sql`
  select *
  from json_to_recordset(${JSON.stringify(outcomes.map(toRow))}::text::json) as a (
    org_id uuid, webhook_id uuid, id uuid, number smallint, status text, status_code smallint, response_body text,
    error text, duration_ms integer, at timestamptz, traceparent text, retry_in_seconds double precision)`;

/** Moves the deliveries of `attempt` that have an outcome. */
const endedDeliveries = (sql: Sql): Part => sql`
    gone as (
      delete from pending_deliveries d
      using attempt a
      where d.org_id = a.org_id and d.webhook_id = a.webhook_id and d.attempts = a.number - 1 and d.id = a.id
        and a.status <> 'pending'
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
      returning org_id, webhook_id, id, is_test
    )`;
