import type { Sql } from '../lib/db/db.ts';
import { enqueueEach } from '../lib/queue/outbox.ts';
import type { Event } from './events.ts';

export type Told = { orgId: string; events: readonly Event[]; traceparent?: string | null };

/**
 * The CTEs that make a delivery for each webhook that subscribed to an event, and a job for each
 * webhook that has one; for a webhook that is switched off, a skipped delivery that can be replayed later. They
 * tell nothing unless `when` holds. A webhook is locked against its deletion: one that is being deleted
 * must not fail what is told to it.
 */
export function emission(sql: Sql, { orgId, events, traceparent = null }: Told, when = sql`true`) {
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
