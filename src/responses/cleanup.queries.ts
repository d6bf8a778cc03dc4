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
      and ${dayOfVisit(sql)} >= ${dayAgo(sql, fromDaysAgo)} and ${dayOfVisit(sql)} <= ${dayAgo(sql, toDaysAgo)}
      and visited_at >= now() - make_interval(days => ${fromDaysAgo}::int)
      and visited_at < now() - make_interval(days => ${toDaysAgo}::int)`;
  return count;
}

type OldVisits = { days: number; atMost: number };

/** Responses do not need old visits any more: whether one is on hold is stored with it. */
export async function deleteOldVisits(sql: Sql, { days, atMost }: OldVisits): Promise<number> {
  const { count } = await sql`
    -- all organizations
    delete from link_visits
    where (contact_id, visited_at, id) in (
      select contact_id, visited_at, id
      from link_visits
      where ${dayOfVisit(sql)} <= ${dayAgo(sql, days)} and visited_at < now() - make_interval(days => ${days}::int)
      order by ${dayOfVisit(sql)}
      limit ${atMost}
      for update skip locked
    )`;
  return count;
}

/** An index has the days of visits, and not their times. */
const dayOfVisit = (sql: Sql) => sql`(visited_at at time zone 'UTC')::date`;

const dayAgo = (sql: Sql, days: number) =>
  sql`((now() - make_interval(days => ${days}::int)) at time zone 'UTC')::date`;
