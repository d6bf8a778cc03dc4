import { opaque, type Part, type Sql } from '../lib/db/db.ts';
import type { Page, Position } from '../lib/paging/page.ts';
import type { OrgId } from '../org-id.ts';
import { dayOf, type Range, startOfDay } from './range.ts';

/** Something that the sets of days know of responses, by what an index knows it. */
export type SetCondition = {
  facet: Part;
  /** Where few responses of a day have it there is no set. Others without a set are met by no response. */
  mayBeFew?: boolean;
  isNot?: boolean;
};

/** The responses that meet conditions, and the same as a source `r` with conditions of its own, at any time. */
export type SetRows = { conditions: readonly SetCondition[]; range: Range; rows: Part };

const dayMs = 24 * 60 * 60 * 1000;

/**
 * The CTEs `known_days`, with the set of the responses that meet all conditions for each whole day in range whose sets
 * are kept and valid, and `stretches`, the times between these days. A set may be null, which is an empty one.
 */
export function knownDays(
  sql: Sql,
  orgId: OrgId,
  { conditions, range }: Pick<SetRows, 'conditions' | 'range'>,
): Part {
  const { from, to } = range;
  const first = from && dayOf(new Date(Math.ceil(from.getTime() / dayMs) * dayMs));
  const end = to && dayOf(startOfDay(to));
  const bounds = {
    first: first ? opaque(sql, sql`${first}::date`) : null,
    end: end ? opaque(sql, sql`${end}::date`) : null,
  };
  return sql`
  known_days as materialized (${setsOfDays(sql, orgId, { conditions, ...bounds })}), stretches as (
    select coalesce(lag(ends) over (order by starts), ${timeOr(sql, from, '-infinity')}) as first, starts as after_last
    from (
      select day::timestamp at time zone 'UTC' as starts, (day + 1)::timestamp at time zone 'UTC' as ends
      from known_days
      union all
      select ${timeOr(sql, to, 'infinity')}, null
    ) days
  )`;
}

/** Days as values of SQL, the first up to but without the end; null is without an end on that side. */
type SetsOfDays = Pick<SetRows, 'conditions'> & { first: Part | null; end: Part | null };

/** The set of the responses that meet all conditions, at least one, of each day whose sets are valid, as a query. */
export function setsOfDays(sql: Sql, orgId: OrgId, { conditions, first, end }: SetsOfDays): Part {
  const setOf = ({ facet }: SetCondition) => setOfDay(sql, orgId, facet);
  const all = sql`repeat('1', octet_length(d.ids) / 16)::varbit`;
  const common = (sets: readonly Part[]) => sets.reduce((before, set) => sql`${before} & ${set}`);
  const few = conditions.filter(({ mayBeFew }) => mayBeFew).map(setOf);
  const met = conditions.filter(({ mayBeFew, isNot }) => !mayBeFew && !isNot).map(setOf);
  const unmet = conditions.filter(({ isNot }) => isNot).map(setOf);
  const start = few.length > 0 ? [sql`few`] : [];
  return sql`
    select day, ${common([...start, ...met, ...unmet.map((set) => sql`coalesce(~ ${set}, ${all})`)])} as bits
    from facet_days d
    ${few.length > 0 ? sql`cross join lateral (select ${common(few)} as few offset 0) sets` : sql``}
    where org_id = ${orgId}
      ${first ? sql`and day >= ${first}` : sql``}
      ${end ? sql`and day < ${end}` : sql``}
      ${few.length > 0 ? sql`and few is not null` : sql``}
      and day not in (
        select day from facet_changes where org_id = ${orgId}
        union all
        select day from organization_day_tallies where org_id = ${orgId} and by_half_hour is null
      )`;
}

/** The set of a facet of the day of a row `d`. */
export const setOfDay = (sql: Sql, orgId: OrgId, facet: Part): Part =>
  sql`(select bits from facet_day_bits where org_id = ${orgId} and facet = ${facet} and day = d.day)`;

const timeOr = (sql: Sql, time: Date | null, none: 'infinity' | '-infinity') =>
  opaque(sql, time ? sql`${time}::timestamptz` : sql`${none}::text::timestamptz`);

/**
 * The CTE `units`: the known days, and the stretches between them whose rows are counted if `counts`, else not. Each
 * has its first instant and how many rows it has.
 */
const units = (sql: Sql, { rows, counts }: { rows: Part; counts: boolean }) => sql`
  units as materialized (
    select day, day::timestamp at time zone 'UTC' as first, (day + 1)::timestamp at time zone 'UTC' as after_last,
           bits, bit_count(bits) as n
    from known_days
    where bit_count(bits) > 0
    union all
    select null, first, after_last, null, ${counts ? sql`counted.n` : sql`0`}
    from stretches
    ${
      counts
        ? sql`cross join lateral (
      select count(*) as n from ${rows} and r.created_at >= first and r.created_at < after_last
    ) counted`
        : sql``
    }
    where first < after_last
  )`;

type SetPage = Pick<Page, 'limit'> & { offset: number; after: Position | undefined };

/**
 * The CTEs that find the rows of a page of the responses that meet conditions: `found` has them with id and created_at,
 * together with some that come before or after them, and `skipped` how many come before, where the page is not one by
 * cursor. Days that do not matter to the page are not read, however many responses they have.
 */
export function foundRows(
  sql: Sql,
  orgId: OrgId,
  { page, counts, ...sets }: SetRows & { page: SetPage; counts: boolean },
): Part {
  const { offset, limit, after } = page;
  const last = opaque(sql, sql`${offset + limit + 1}::bigint`);
  const at = after && opaque(sql, sql`${after.at}::text::timestamptz`);
  return sql`
  ${knownDays(sql, orgId, sets)}, ${units(sql, { rows: sets.rows, counts })},
  placed as (
    select *, sum(here) over (order by first desc) - here as newer
    from (
      select *, ${at ? sql`case when after_last > ${at} then 0 else n end` : sql`n`} as here
      from units
      where true ${at ? sql`and first <= ${at}` : sql``}
    ) u
  ), needed as materialized (
    select * from placed where newer < ${last} and newer + here >= ${opaque(sql, sql`${offset}::bigint`)}
  ), skipped as materialized (
    select ${offset}::bigint - coalesce(min(newer), 0) as n from needed
  ), places as (
    select day, word * 64 + bit as place
    from needed
    cross join lateral generate_series(0, (length(bits) - 1) / 64) word
    cross join lateral (select substring(bits from word * 64 + 1 for 64) as few offset 0) w
    cross join lateral generate_series(0, length(few) - 1) bit
    where day is not null and bit_count(few) > 0 and get_bit(few, bit) = 1
      ${after && at ? sql`and (after_last <= ${at} or word * 64 + bit >= (${newerInDay(sql, orgId, after)}))` : sql``}
    order by day desc, place
    limit (select n + ${limit + 1}::bigint from skipped)
  ), found as materialized (
    select r.created_at, r.id
    from places
    cross join lateral (
      select substring(ids from place * 16 + 1 for 16) as id from facet_days d
      where d.org_id = ${orgId} and d.day = places.day limit 1
    ) kept
    cross join lateral (
      select created_at, id from responses o
      where o.org_id = ${orgId} and o.id = encode(kept.id, 'hex')::uuid limit 1
    ) r
    union all
    select r.created_at, r.id
    from needed
    cross join lateral (
      select r.created_at, r.id
      from ${sets.rows} and r.created_at >= first and r.created_at < after_last
        ${after && at ? sql`and (r.created_at, r.id) < (${at}, ${after.id}::uuid)` : sql``}
      order by r.created_at desc, r.id desc
      limit (select n + ${limit + 1}::bigint from skipped)
    ) r
    where day is null
  )`;
}

/** How many responses of the day of a position come before it, or are it. */
const newerInDay = (sql: Sql, orgId: OrgId, { at, id }: Position) => sql`
  select count(*)
  from responses
  where org_id = ${orgId} and held_reason is null
    and (created_at, id) >= (${at}::text::timestamptz, ${id}::uuid)
    and created_at < (utc_day(${at}::text::timestamptz) + 1)::timestamp at time zone 'UTC'`;

/** How many responses `foundRows` finds in all, as a query of one value. */
export const countFound = (sql: Sql): Part => sql`select coalesce(sum(n), 0)::int from units`;
