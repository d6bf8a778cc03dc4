import type { Sql } from '../lib/db/db.ts';

type DaysAgo = { fromDaysAgo: number; toDaysAgo: number };

/** The visits of an organization from one time to another. */
export async function deleteVisitsOf(
  sql: Sql,
  orgId: string,
  { fromDaysAgo, toDaysAgo }: DaysAgo,
): Promise<number> {
  const { count } = await sql`
    delete from link_visits
    where org_id = ${orgId}
      and visited_at >= now() - make_interval(days => ${fromDaysAgo}::int)
      and visited_at < now() - make_interval(days => ${toDaysAgo}::int)`;
  return count;
}

type OldVisits = { days: number; atMost: number };

/**
 * The old visits of the default partition; those of other partitions are dropped with them. Responses do not need them
 * any more: whether one is on hold is stored with it.
 */
export async function deleteOldVisits(sql: Sql, { days, atMost }: OldVisits): Promise<number> {
  const { count } = await sql`
    delete from link_visits_default
    where (contact_id, visited_at, id) in (
      select contact_id, visited_at, id
      from link_visits_default
      where visited_at < now() - make_interval(days => ${days})
      limit ${atMost}
      for update skip locked
    )`;
  return count;
}
