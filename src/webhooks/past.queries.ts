import type { Sql } from '../lib/db/db.ts';
import type { EventType } from './events.ts';

export type PastWebhook = {
  id: string;
  url: string;
  events: readonly EventType[];
  description: string;
  secret: Buffer;
  created_at: Date;
  deactivated_at: Date;
  deactivated_reason: string;
  failure_count: number;
  last_delivery_at: Date | null;
};

/** Adds a webhook with a past, which is switched off: nothing is posted to it. */
export async function insertPastWebhook(sql: Sql, orgId: string, webhook: PastWebhook) {
  await sql`
    insert into webhooks (org_id, id, url, events, description, secret, active, failure_count, created_at, updated_at,
                          deactivated_at, deactivated_reason, last_delivery_at, undelivered_since)
    values (${orgId}, ${webhook.id}, ${webhook.url}, ${[...webhook.events]}, ${webhook.description}, ${webhook.secret},
            false, ${webhook.failure_count}, ${webhook.created_at}, ${webhook.deactivated_at},
            ${webhook.deactivated_at}, ${webhook.deactivated_reason}, ${webhook.last_delivery_at},
            coalesce(${webhook.last_delivery_at}, ${webhook.created_at}::timestamptz))`;
}

/** Attempts that failed; the one that delivered is in the delivery itself. */
export type PastAttempt = {
  status_code: number;
  response_body: string;
  duration_ms: number;
  at: Date;
};

export type PastDelivery = {
  event: EventType;
  body: string;
  status: 'delivered' | 'failed' | 'skipped';
  created_at: Date;
  delivered_at: Date | null;
  status_code: number | null;
  duration_ms: number | null;
  response_body: string | null;
  failed: readonly PastAttempt[];
};

/** What became of its events. */
export async function insertPastDeliveries(
  sql: Sql,
  { orgId, webhookId }: { orgId: string; webhookId: string },
  deliveries: readonly PastDelivery[],
) {
  const rows = deliveries.map(({ failed, ...delivery }) => ({
    ...delivery,
    attempts: failed.length + (delivery.status === 'delivered' ? 1 : 0),
    failed: failed.map((attempt, at) => ({ ...attempt, number: at + 1 })),
  }));
  await sql`
    with past as materialized (
      select d.*, id_at(d.created_at) as event_id, id_at(d.created_at) as id
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as d (
        event text, body text, status text, attempts smallint, status_code smallint, response_body text,
        duration_ms integer, created_at timestamptz, delivered_at timestamptz, failed json)
    ), noted as (
      insert into events (org_id, id, type, body, used_at)
      select ${orgId}, event_id, event, body, created_at
      from past
    ), inserted as (
      insert into ended_deliveries (org_id, webhook_id, id, event_id, undelivered, attempts, status_code, response_body,
                                    duration_ms, delivered_at)
      select ${orgId}, ${webhookId}, id, event_id, nullif(status, 'delivered'), attempts, status_code, response_body,
             duration_ms, delivered_at
      from past
    )
    insert into delivery_attempts (org_id, webhook_id, delivery_id, number, status_code, response_body, duration_ms, at)
    select ${orgId}, ${webhookId}, past.id, a.number, a.status_code, a.response_body, a.duration_ms, a.at
    from past
    cross join json_to_recordset(past.failed) as a (
      number smallint, status_code smallint, response_body text, duration_ms integer, at timestamptz)`;
}
