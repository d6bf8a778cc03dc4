import type { Part, Sql } from '../lib/db/db.ts';

type NewestOf = { orgId: string; webhookId: string; atMost: number; status: string | null };

/** Ids of a webhook's newest deliveries, newest first: each kind of them by its own index. */
export const newestDeliveries = (
  sql: Sql,
  { orgId, webhookId, atMost, status }: NewestOf,
): Part => sql`
  select id
  from (
    (select id
     from pending_deliveries
     where org_id = ${orgId} and webhook_id = ${webhookId} and attempts = 0
       and coalesce(${status}::text, 'pending') = 'pending'
     order by id desc
     limit ${atMost})
    union all
    (select id
     from pending_deliveries
     where org_id = ${orgId} and webhook_id = ${webhookId} and attempts > 0
       and coalesce(${status}::text, 'pending') = 'pending'
     order by id desc
     limit ${atMost})
    union all
    (select id
     from ended_deliveries
     where org_id = ${orgId} and webhook_id = ${webhookId}
       and (${status}::text is null or coalesce(undelivered, 'delivered') = ${status}::text)
     order by id desc
     limit ${atMost})
  ) newest
  order by id desc
  limit ${atMost}`;
