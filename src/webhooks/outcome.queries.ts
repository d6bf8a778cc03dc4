import type { Sql } from '../lib/db/db.ts';
import type { WebhookRef } from './delivery.queries.ts';
import { type RetryKind, type Standing, testEvent } from './rules.ts';

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

export type SavedAttempt = {
  id: string;
  next_attempt_at: Date | null;
  traceparent: string | null;
};

/**
 * Writes attempts and what they mean for their deliveries, and returns those that were new: an attempt
 * that is written already, because the answer to the first statement was lost, changes nothing again. A
 * delivery without a trace of its cause gets the trace of its first attempt.
 */
export async function saveAttempts(
  sql: Sql,
  { org_id }: WebhookRef,
  attempts: readonly AttemptRow[],
) {
  return await sql<SavedAttempt[]>`
    with attempt as (
      select *
      from json_to_recordset(${JSON.stringify(attempts)}::text::json) as a (
        id uuid, number smallint, status text, status_code smallint, response_body text, error text,
        duration_ms integer, at timestamptz, traceparent text, retry_in_seconds double precision)
    ), recorded_now as (
      update deliveries d
      set status = a.status, attempts = a.number, status_code = a.status_code,
          response_body = a.response_body, claimed_by = null,
          delivered_at = case when a.status = 'delivered' then now() end,
          duration_ms = case when a.status = 'delivered' then a.duration_ms end,
          next_attempt_at = now() + make_interval(secs => a.retry_in_seconds),
          traceparent = coalesce(d.traceparent, a.traceparent)
      from attempt a
      where d.org_id = ${org_id} and d.id = a.id and d.status = 'pending'
        and d.attempts = a.number - 1
      returning d.id, d.next_attempt_at, d.traceparent
    ), recorded as (
      insert into delivery_attempts
        (org_id, delivery_id, number, status_code, response_body, error, duration_ms, at)
      select ${org_id}, id, number, status_code, response_body, error, duration_ms, at
      from attempt
      join recorded_now using (id)
      where attempt.status <> 'delivered'
      on conflict (org_id, delivery_id, number) do nothing
    )
    select id, next_attempt_at, traceparent
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
  id: string;
  number: number;
  status_code: number | null;
  response_body: string | null;
  duration_ms: number;
  traceparent: string | null;
};

/**
 * Writes attempts that delivered, of any webhooks, and returns the ids of those that are decided: written
 * now, or before. It waits for no lock, so that no webhook holds up another: what is locked, and what is of
 * a webhook with failures to reset, is left out. The webhook's own times are touched once a second at most.
 */
export async function saveDelivered(sql: Sql, attempts: readonly DeliveredRow[]) {
  return await sql<{ id: string; is_new: boolean }[]>`
    with attempt as materialized (
      select *
      from json_to_recordset(${JSON.stringify(attempts)}::text::json) as a (
        org_id uuid, id uuid, number smallint, status_code smallint, response_body text,
        duration_ms integer, traceparent text)
    ), found as materialized (
      select d.org_id, d.id, d.webhook_id, d.event <> ${testEvent} as is_event,
             d.status = 'pending' and d.attempts = a.number - 1 as is_new
      from attempt a
      join deliveries d on d.org_id = a.org_id and d.id = a.id
      where not exists (
        select from webhooks w
        where w.org_id = d.org_id and w.id = d.webhook_id and w.failure_count > 0
      )
      for update of d skip locked
    ), recorded_now as (
      update deliveries d
      set status = 'delivered', attempts = a.number, status_code = a.status_code,
          response_body = a.response_body, duration_ms = a.duration_ms, claimed_by = null, delivered_at = now(),
          next_attempt_at = null, traceparent = coalesce(d.traceparent, a.traceparent)
      from found
      join attempt a using (org_id, id)
      where d.org_id = found.org_id and d.id = found.id and found.is_new
    ), stale as materialized (
      select w.org_id, w.id, f.has_event
      from webhooks w
      join (
        select org_id, webhook_id, bool_or(is_event) as has_event
        from found
        group by org_id, webhook_id
      ) f on f.org_id = w.org_id and f.webhook_id = w.id
      where w.last_delivery_at is null or w.last_delivery_at < now() - interval '1 second'
        or f.has_event and w.undelivered_since < now() - interval '1 second'
      for no key update of w skip locked
    ), touched as (
      update webhooks w
      set last_delivery_at = now(),
          undelivered_since = case when has_event then now() else undelivered_since end
      from stale
      where w.org_id = stale.org_id and w.id = stale.id
    )
    select id, is_new from found`;
}
