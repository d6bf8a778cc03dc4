import type { Part, Sql } from '../lib/db/db.ts';

type MissedSince = { orgId: string; webhookId: string; since: Date };

/**
 * What a webhook has missed since a time: deliveries that were skipped or failed and were not made again
 * since, but for those of erased events. A delivery that is made again names the first.
 */
export const missedDeliveries = (sql: Sql, { orgId, webhookId, since }: MissedSince): Part => sql`
  -- organization: caller
  select d.id, d.event_id, coalesce(d.message_id, d.id) as message_id, d.is_test,
         coalesce(d.traceparent, e.traceparent) as traceparent
  from ended_deliveries d
  join events e on e.org_id = d.org_id and e.id = d.event_id and e.erased_at is null
  where d.org_id = ${orgId} and d.webhook_id = ${webhookId} and d.id >= least_id_at(${since})
    and d.undelivered is not null and not d.is_test
    and not exists (
      select from pending_deliveries later
      where later.webhook_id = d.webhook_id and later.message_id = coalesce(d.message_id, d.id) and later.id > d.id
    ) and not exists (
      select from ended_deliveries later
      where later.webhook_id = d.webhook_id and later.message_id = coalesce(d.message_id, d.id) and later.id > d.id
    )`;
