import { enqueueEach } from '../jobs.ts';
import type { Sql } from '../lib/db/db.ts';
import type { WebhookEvent } from './events.ts';

/** Events of one organization, with the span that causes them. */
export type NewEvents = {
  orgId: string;
  events: readonly WebhookEvent[];
  traceparent?: string | null;
};

/**
 * Makes a delivery of each event for every subscribed webhook, in the caller's transaction: an event
 * exists if, and only if, its cause was committed. Call the pump after the commit.
 */
export async function emit(sql: Sql, added: NewEvents) {
  if (added.events.length === 0) return;
  await sql`
    with ${emission(sql, added)}
    select from emitted`;
}

/**
 * The CTEs of `emit`, for a statement that records the cause as well: a delivery for each webhook that
 * subscribed to an event, and a job for each webhook that has one. For a webhook that is switched off the
 * delivery is skipped, and can be replayed later. They do nothing unless `when` holds. A webhook is locked
 * against its deletion: one that is being deleted must not fail the caller's statement.
 */
export function emission(
  sql: Sql,
  { orgId, events, traceparent = null }: NewEvents,
  when = sql`true`,
) {
  return sql`
    emitted as (
      insert into deliveries (org_id, id, message_id, webhook_id, event, body, status,
                              next_attempt_at, traceparent)
      select d.org_id, d.id, d.id, d.webhook_id, d.event, d.body, d.status,
             case when d.status = 'pending' then now() end, ${traceparent}
      from (
        select w.org_id, gen_random_uuid() as id, w.id as webhook_id, e.event, e.body,
               case when w.active then 'pending' else 'skipped' end as status
        from unnest(${events.map(({ type }) => type)}::text[],
                    ${events.map(({ body }) => body)}::text[]) as e (event, body)
        join webhooks w on w.org_id = ${orgId} and e.event = any (w.events)
        where ${when}
        for key share of w
      ) d
      returning org_id, webhook_id, status
    ), queued as (
      ${enqueueEach(
        sql,
        { task: 'webhooks.deliver', traceparent },
        sql`
        select distinct jsonb_build_object('org_id', org_id, 'webhook_id', webhook_id)
        from emitted
        where status = 'pending'`,
      )}
    )`;
}
