import type { Sql } from '../lib/db/db.ts';
import type { GoingPartition } from '../lib/db/partition-stretches.ts';

/** The deliveries of a partition that are among the newest of their webhook: those with fewer newer ones. */
export async function keepNewest(sql: Sql, { partition, kept }: GoingPartition, newest: number) {
  await sql`
    insert into ${sql(kept)}
    select d.*
    from webhooks w
    cross join lateral (
      select coalesce((
        select id
        from ended_deliveries
        where webhook_id = w.id
        order by id desc
        offset ${newest - 1} limit 1
      ), '00000000-0000-0000-0000-000000000000') as id
    ) oldest
    cross join lateral (
      select *
      from ${sql(partition)}
      where webhook_id = w.id and id >= oldest.id
    ) d`;
}

/**
 * The attempts at deliveries that stay: of those that have ended only the newest, which are in the default partition
 * when theirs has gone, and of pending ones that are older than all others.
 */
export async function keepAttempts(sql: Sql, { partition, kept }: GoingPartition) {
  await sql`
    insert into ${sql(kept)}
    select a.*
    from ${sql(partition)} a
    where exists (
      select from ended_deliveries_default d
      where d.org_id = a.org_id and d.webhook_id = a.webhook_id and d.id = a.delivery_id
    ) or exists (
      select from pending_deliveries d
      where d.org_id = a.org_id and d.webhook_id = a.webhook_id and d.attempts > 0 and d.id = a.delivery_id
    )`;
}
