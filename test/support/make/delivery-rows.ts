import { randomUUID } from 'node:crypto';
import type { Sql } from '../../../src/lib/db/db.ts';

/** Fields of a delivery, which has no outcome unless `status` says so. */
export type DeliveryFields = {
  org_id: string;
  webhook_id: string;
  /** Begins with the creation time by default, like the ids of the service. */
  id?: string;
  message_id?: string | null;
  event?: string;
  body?: string;
  status?: string;
  attempts?: number;
  status_code?: number | null;
  response_body?: string | null;
  duration_ms?: number | null;
  traceparent?: string | null;
  is_replay?: boolean;
  created_at?: Date;
  delivered_at?: Date | null;
  next_attempt_at?: Date | null;
  claimed_by?: string | null;
};

/** An id that sorts by this time. */
export function idAt(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000${randomUUID().slice(18)}`;
}

/** Adds deliveries with an event each. Returns their ids. */
export async function addDeliveries(sql: Sql, ...deliveries: readonly DeliveryFields[]) {
  const rows = deliveries.map((given) => ({
    event: 'response.received',
    body: '{"version":"1"}',
    status: 'pending',
    attempts: 0,
    id: idAt(given.created_at ?? new Date()),
    created_at: new Date(),
    message_id: null,
    next_attempt_at: new Date(),
    is_replay: false,
    delivered_at: given.status === 'delivered' ? new Date() : null,
    ...given,
    is_test: given.event === 'webhook.test',
  }));
  const given = sql`
    select *
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as d (
      org_id uuid, webhook_id uuid, id uuid, message_id uuid, event text, body text, status text, attempts smallint,
      status_code smallint, response_body text, duration_ms integer, traceparent text, is_replay boolean,
      is_test boolean, created_at timestamptz, delivered_at timestamptz, next_attempt_at timestamptz, claimed_by text)`;
  await sql`
    with given as materialized (${given}), happened as (
      insert into events (org_id, id, type, body, used_at)
      select org_id, id, event, body, created_at from given
      on conflict do nothing -- deliveries of two webhooks may have one id, and then they share its event
    ), pending as (
      insert into pending_deliveries (org_id, webhook_id, id, event_id, message_id, attempts, status_code, response_body,
                                      traceparent, is_test, is_replay, next_attempt_at, claimed_by)
      select org_id, webhook_id, id, id, message_id, attempts, status_code, response_body,
             traceparent, is_test, is_replay, next_attempt_at, claimed_by
      from given
      where status = 'pending'
    )
    insert into ended_deliveries (org_id, webhook_id, id, event_id, message_id, undelivered, attempts, status_code,
                                  response_body, duration_ms, traceparent, is_test, is_replay, delivered_at)
    select org_id, webhook_id, id, id, message_id, nullif(status, 'delivered'), attempts, status_code,
           response_body, duration_ms, traceparent, is_test, is_replay, delivered_at
    from given
    where status <> 'pending'`;
  return rows.map(({ id }) => id);
}

/** Turns the deliveries of a webhook into test deliveries. */
export async function makeTests(sql: Sql, webhookId: string) {
  await sql`
    update events e set type = 'webhook.test'
    from deliveries d
    where d.webhook_id = ${webhookId} and e.org_id = d.org_id and e.id = d.event_id`;
  await sql`update pending_deliveries set is_test = true where webhook_id = ${webhookId}`;
  await sql`update ended_deliveries set is_test = true where webhook_id = ${webhookId}`;
}

/** Marks an organization's pending deliveries as delivered, without a POST. */
export const endDeliveries = (sql: Sql, orgId: string) => sql`
  with gone as (
    delete from pending_deliveries where org_id = ${orgId} returning *
  )
  insert into ended_deliveries (org_id, webhook_id, id, event_id, attempts, delivered_at)
  select org_id, webhook_id, id, event_id, 1, now()
  from gone`;
