import { opaque, type Part, type Sql } from '../lib/db/db.ts';
import type { Position } from '../lib/paging/page.ts';
import { foundRows, knownDays } from './facet-sets.cte.ts';
import { filteredRows, type ResponseFilter } from './filter.cte.ts';
import { readsSets, setRows } from './filter-sets.cte.ts';
import { matched } from './queries.ts';

type NextOf = { filter: ResponseFilter; position: Position; way: 'newer' | 'older' };

/** The response of a filtered list that comes next after a position, on the way to newer or to older ones. */
export async function findNext(
  sql: Sql,
  orgId: string,
  { filter, position, way }: NextOf,
): Promise<string | undefined> {
  const { pattern } = filter;
  const place = sql`(${position.at}::text::timestamptz, ${position.id}::uuid)`;
  const isBySets = readsSets(filter) && filter.facets.length > 0;
  const given = { filter, position };
  const [found] = await sql<{ id: string }[]>`
    ${pattern === null ? sql`` : sql`with ${matched(sql, orgId, filter, pattern)}`}
    ${isBySets ? sql`with ${way === 'newer' ? newerBySets(sql, orgId, given) : olderBySets(sql, orgId, given)}` : sql``}
    select r.id
    from ${isBySets ? sql`found r where true` : pattern === null ? filteredRows(sql, orgId, filter) : sql`matched r where true`}
    ${
      way === 'newer'
        ? sql`and (r.created_at, r.id) > ${place} order by r.created_at, r.id`
        : sql`and (r.created_at, r.id) < ${place} order by r.created_at desc, r.id desc`
    }
    limit 1`;
  return found?.id;
}

type Place = { filter: ResponseFilter; position: Position };

/** What meets some filters is rare among what meets others: sets of days find it without the rows in between. */
const olderBySets = (sql: Sql, orgId: string, { filter, position }: Place): Part =>
  foundRows(sql, orgId, {
    ...setRows(sql, orgId, filter),
    page: { offset: 0, limit: 1, after: position },
    counts: false,
  });

/**
 * The CTE `found`: of the day of the position, and of the next that has any, the oldest response that comes after it, and
 * the same of each stretch up to then. A set has the newest response first.
 */
function newerBySets(sql: Sql, orgId: string, { filter, position }: Place): Part {
  const sets = setRows(sql, orgId, filter);
  const at = opaque(sql, sql`${position.at}::text::timestamptz`);
  const place = sql`(${at}, ${position.id}::uuid)`;
  return sql`
  ${knownDays(sql, orgId, sets)}, own_day as materialized (
    select utc_day(${at}) as day, count(*)::int as newer
    from responses
    where org_id = ${orgId} and held_reason is null and (created_at, id) > ${place}
      and created_at < (utc_day(${at}) + 1)::timestamp at time zone 'UTC'
  ), next_day as materialized (
    select min(day) as day from known_days where day > (select day from own_day) and bit_count(bits) > 0
  ), oldest as materialized (
    select d.day, length(rtrim(case when d.day = o.day then left(bits::text, newer) else bits::text end, '0')) - 1 as place
    from known_days d
    cross join own_day o
    where d.day = o.day or d.day = (select day from next_day)
  ), found as (
    select r.created_at, r.id
    from oldest
    cross join lateral (
      select substring(ids from place * 16 + 1 for 16) as id
      from facet_days d
      where d.org_id = ${orgId} and d.day = oldest.day and place >= 0
    ) kept
    join responses r on r.org_id = ${orgId} and r.id = encode(kept.id, 'hex')::uuid
    union all
    select r.created_at, r.id
    from stretches
    cross join lateral (
      select r.created_at, r.id
      from ${sets.rows} and r.created_at >= first and r.created_at < after_last and (r.created_at, r.id) > ${place}
      order by r.created_at, r.id
      limit 1
    ) r
    where first < after_last and after_last > ${at}
      and first <= coalesce((select day::timestamp at time zone 'UTC' from next_day), 'infinity'::timestamptz)
  )`;
}
