import type { Sql } from '../lib/db/db.ts';

/**
 * Deletes old deliveries but for a webhook's newest, with their attempts, some at a time. It begins at the old ones, so
 * that it does not walk past the many newer ones of a busy webhook.
 */
export async function deleteOldDeliveries(
  sql: Sql,
  { keep, days, atMost }: { keep: number; days: number; atMost: number },
): Promise<number> {
  const { count } = await sql`
    -- all organizations
    with old as materialized (
      select o.webhook_id, o.id
      from webhooks w
      cross join lateral (
        select id
        from ended_deliveries
        where webhook_id = w.id
        order by id desc
        offset ${keep - 1} limit 1
      ) kept
      cross join lateral (
        select webhook_id, id
        from ended_deliveries
        where webhook_id = w.id and id < kept.id and id < least_id_at(now() - make_interval(days => ${days}))
        order by id
        limit ${atMost}
      ) o
      limit ${atMost}
    ), attempts as (
      delete from delivery_attempts a
      using old
      where a.webhook_id = old.webhook_id and a.delivery_id = old.id
    )
    delete from ended_deliveries d
    using old
    where d.webhook_id = old.webhook_id and d.id = old.id`;
  return count;
}

/** Organizations with events that are old enough to be deleted, whether or not a delivery keeps them. */
export async function listWithOldEvents(sql: Sql, days: number): Promise<string[]> {
  const found = await sql<{ id: string }[]>`
    select id
    from organizations o
    where exists (
      select from events
      where org_id = o.id and id < least_id_at(now() - make_interval(days => ${days}))
    )`;
  return found.map(({ id }) => id);
}

/**
 * Deletes an organization's old events that no delivery is left of, some at a time. An event of which no delivery was made since then has only old deliveries, and of those
 * few are kept before that time.
 */
export async function deleteOldEvents(
  sql: Sql,
  orgId: string,
  { days, atMost }: { days: number; atMost: number },
): Promise<number> {
  const { count } = await sql`
    -- all organizations
    with kept as materialized (
      select d.event_id
      from webhooks w
      join ended_deliveries d on d.webhook_id = w.id and d.id < least_id_at(now() - make_interval(days => ${days}))
      where w.org_id = ${orgId}
      union all
      select d.event_id
      from webhooks w
      join pending_deliveries d on d.webhook_id = w.id and d.id < least_id_at(now() - make_interval(days => ${days}))
      where w.org_id = ${orgId}
    )
    delete from events e
    using (
      select id
      from events
      where org_id = ${orgId} and id < least_id_at(now() - make_interval(days => ${days})) and used_at < now() - make_interval(days => ${days})
        and id not in (select event_id from kept)
      limit ${atMost}
    ) old
    where e.org_id = ${orgId} and e.id = old.id and e.used_at < now() - make_interval(days => ${days})`;
  return count;
}
