import { lockTimeout, type Sql } from '../lib/db/db.ts';
import type { WebhookRef } from './delivery.queries.ts';
import type { RetryKind, Standing } from './rules.ts';

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

export type AttemptRow = {
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

export type SavedAttempt = { id: string; next_attempt_at: Date | null };

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

export async function saveStanding(
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

export type DeliveredRow = {
  org_id: string;
  webhook_id: string;
  id: string;
  number: number;
  status_code: number | null;
  response_body: string | null;
  duration_ms: number;
  traceparent: string | null;
};

/**
 * Writes attempts that delivered, of any webhooks, and returns the ids of those it has written. What is of a webhook
 * that is locked, being deleted or has failures to reset is left out, as is what was written before. It fails when
 * a delivery is locked for longer than `lockMs`. The webhook's own times are touched once a second at most.
 */
export async function saveDelivered(sql: Sql, attempts: readonly DeliveredRow[], lockMs: number) {
  return await sql<{ id: string }[]>`
    with attempt as materialized (
      select *
      from json_to_recordset(${JSON.stringify(attempts)}::text::json) as a (
        org_id uuid, webhook_id uuid, id uuid, number smallint, status_code smallint, response_body text,
        duration_ms integer, traceparent text)
    ), webhook as materialized (
      select w.org_id, w.id
      from webhooks w
      join (select distinct org_id, webhook_id from attempt) a on a.org_id = w.org_id and a.webhook_id = w.id
      where w.failure_count = 0
      for key share of w skip locked
    ), patience as (${lockTimeout(sql, lockMs)}), gone as (
    delete from pending_deliveries d
    using patience, attempt a
    join webhook w on w.org_id = a.org_id and w.id = a.webhook_id
    where d.org_id = a.org_id and d.webhook_id = a.webhook_id and d.attempts = a.number - 1 and d.id = a.id
    returning d.*
  ), delivered as (
      insert into ended_deliveries (org_id, webhook_id, id, event_id, message_id, attempts, status_code,
                                    response_body, duration_ms, traceparent, is_test, is_replay, delivered_at)
      select d.org_id, d.webhook_id, d.id, d.event_id, d.message_id, a.number, a.status_code,
             a.response_body, a.duration_ms, coalesce(d.traceparent, a.traceparent), d.is_test, d.is_replay,
             now()
      from gone d
      join attempt a using (id)
      returning org_id, webhook_id, id, is_test
    ), stale as materialized (
      select w.org_id, w.id, d.has_event
      from webhooks w
      join (
        select org_id, webhook_id, bool_or(not is_test) as has_event
        from delivered
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
    select id from delivered`;
}
