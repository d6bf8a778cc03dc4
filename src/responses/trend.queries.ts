import type { Part, Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';
import { facetDays } from './facet-days.cte.ts';
import { wouldHaveFacets } from './facets.cte.ts';
import { chosenSurveys, type NpsScope } from './scope.cte.ts';
import { countedRows, keptDays } from './totals.queries.ts';
import type { TrendRows } from './trend.rules.ts';

/**
 * A tally for each row of a trend, as JSON of an array of `HeldTally`. Whole UTC days come from the kept tallies.
 * A row that begins or ends elsewhere takes the days between the midnights next to its edges, and the responses
 * between each edge and its midnight, which are at most half a day, are counted in addition or taken off.
 */
export const countTrend = (
  sql: Sql,
  orgId: OrgId,
  { scope, rows }: { scope: NpsScope; rows: TrendRows },
): Part => sql`(
  with ${edges(sql, rows)},
  bounds as materialized (
    select min(at) as first, max(at) as last, min(day) as first_day, max(day) as last_day,
           array_agg(at order by row) as ats, array_agg(day order by row) as days
    from edges
  ),
  ${scope.facets.length > 1 && !isOfWholeDays(rows) ? counted(sql, orgId, scope) : kept(sql, orgId, { scope, rows })},
  on_hold as (
    select width_bucket(created_at, (select ats from bounds)) as row, count(*) as held
    from responses r
    where org_id = ${orgId} and held_reason is not null ${chosenSurveys(sql, orgId, scope)}
      ${wouldHaveFacets(sql, scope.facets)}
      and created_at >= (select first from bounds) and created_at < (select last from bounds)
    group by 1
  ), parts as (
    select row, promoters, passives, detractors, 0 as held from tallied
    union all
    select row, 0, 0, 0, held from on_hold
  )
  select coalesce(json_agg(tally order by row), '[]')::text
  from (
    select row, coalesce(sum(promoters), 0)::int as promoters, coalesce(sum(passives), 0)::int as passives,
           coalesce(sum(detractors), 0)::int as detractors, coalesce(sum(held), 0)::int as held
    from generate_series(1, ${rows.starts.length}::int) row
    left join parts using (row)
    group by row
  ) tally
)`;

/** Where rows begin and end: the instant, the UTC midnight next to it, and whether that comes after it. */
export const edges = (sql: Sql, { edges: days, starts, timeZone, from, to }: TrendRows) => sql`
  edges as materialized (
    select row, at, midnight, (midnight at time zone 'UTC')::date as day,
           case when at < midnight then 1 else -1 end as sign,
           date_bin('30 minutes', at, timestamptz '2000-01-01 00:00Z') as half_at,
           (at at time zone 'UTC')::date as own_day, half_hour_of(at) as half
    from (
      select row, at, date_bin('1 day', at + interval '12 hours', timestamptz '2000-01-01 00:00Z') as midnight
      from (
        select row::int,
               case row
                 when 1 then coalesce(${from}::timestamptz, local)
                 when ${starts.length + 1}::int
                   then greatest(coalesce(${to}::timestamptz, local), ${from}::timestamptz)
                 else local
               end as at
        from (
          select row, day::timestamp at time zone ${timeZone} as local
          from unnest(${days as string[]}::text[]::date[]) with ordinality as d (day, row)
        ) locals
      ) instants
    ) nearest
  )`;

type TrendOf = { scope: NpsScope; rows: TrendRows };

/** From the tallies of days, and what lies between the edges and the midnights next to them. */
const kept = (sql: Sql, orgId: OrgId, { scope, rows }: TrendOf) => sql`
  kept_days as ${daysOfTrend(sql, orgId, scope)},
  ${isOfWholeDays(rows) ? sql`` : sql`${nearEdges(sql, orgId, scope)},`}
  tallied as (
    select width_bucket(day, (select days from bounds)) as row,
           sum(promoters) as promoters, sum(passives) as passives, sum(detractors) as detractors
    from kept_days
    where day >= (select first_day from bounds) and day < (select last_day from bounds)
    group by 1
    ${isOfWholeDays(rows) ? sql`` : ofNearEdges(sql)}
  )`;

/** In most organizations: then no edge lies between two midnights, and Postgres need not be asked for what is there. */
const isOfWholeDays = ({ timeZone, from, to }: TrendRows) => timeZone === 'UTC' && !from && !to;

const ofNearEdges = (sql: Sql) => sql`
  union all
  select row, sign * promoters, sign * passives, sign * detractors from near_edges
  union all
  select row - 1, -sign * promoters, -sign * passives, -sign * detractors from near_edges`;

/** Those of a kind come from one table or the other, and are read once: joined with the edges they would be for each. */
function daysOfTrend(sql: Sql, orgId: OrgId, scope: NpsScope) {
  if (scope.facets.length > 0)
    return sql`materialized (${facetDaysOfTrend(sql, orgId, { scope })})`;
  const days = keptDays(sql, orgId, scope);
  if (!scope.type && !scope.audience) return sql`not materialized (${days})`;
  return sql`materialized (
    select *
    from (${days}) kept
    where day >= (select first_day - 1 from bounds) and day <= (select last_day from bounds)
  )`;
}

/** A day more on each side: the first row may begin on the day before, and the last may end on the day after. */
export const facetDaysOfTrend = (
  sql: Sql,
  orgId: OrgId,
  { scope, withScores = false }: { scope: NpsScope; withScores?: boolean },
) =>
  facetDays(sql, orgId, {
    ...{ scope, withScores },
    first: sql`(select first_day - 1 from bounds)`,
    end: sql`(select last_day + 1 from bounds)`,
    each: 'day',
  });

/**
 * How many responses lie between each edge and its midnight. Where the half hours of its day are kept, only
 * what lies between the edge and the half hour before it is counted, which in most zones is nothing. A day without
 * a tally has no responses.
 */
const nearEdges = (sql: Sql, orgId: OrgId, scope: NpsScope) => sql`
  halves as materialized (
    select row, at, midnight, sign, half_at,
           coalesce(bool_and(by_half_hour is not null) filter (where kept_days.day is not null), true) as are_known,
           ${sinceMidnight(sql, sql`promoters`, -2)}  as promoters,
           ${sinceMidnight(sql, sql`passives`, -1)}   as passives,
           ${sinceMidnight(sql, sql`detractors`, 0)} as detractors
    from edges
    left join kept_days
      on kept_days.day = own_day
      and kept_days.day >= (select first_day - 1 from bounds) and kept_days.day <= (select last_day from bounds)
    where at <> midnight
    group by row, at, midnight, sign, half_at
  ), near_edges as materialized (
    select row, sign,
           case when are_known then h.promoters - sign * c.promoters else c.promoters end    as promoters,
           case when are_known then h.passives - sign * c.passives else c.passives end       as passives,
           case when are_known then h.detractors - sign * c.detractors else c.detractors end as detractors
    from halves h
    cross join lateral (
      select ${categoryCounts(sql)}
      from ${countedRows(sql, orgId, scope)}
        and (not are_known or at <> half_at)
        and created_at >= case when are_known then half_at else least(at, midnight) end
        and created_at < case when are_known then at else greatest(at, midnight) end
    ) c
  )`;

/** Between the half hour before an edge and its midnight, which is that of its own day or of the next. */
const sinceMidnight = (sql: Sql, column: Part, place: number) => sql`
  coalesce(sum(case sign when 1 then ${column} end), 0)
    - sum(sign * coalesce(by_half_hour[3 * half + ${place}::int], 0))`;

/** Several facets at once have no half hours: where rows begin at other times, the responses are counted. */
const counted = (sql: Sql, orgId: OrgId, scope: NpsScope) => sql`
  tallied as (
    select width_bucket(created_at, (select ats from bounds)) as row, ${categoryCounts(sql)}
    from ${countedRows(sql, orgId, scope)}
      and created_at >= (select first from bounds) and created_at < (select last from bounds)
    group by 1
  )`;

const categoryCounts = (sql: Sql) => sql`
  count(*) filter (where category = 'promoter')  as promoters,
  count(*) filter (where category = 'passive')   as passives,
  count(*) filter (where category = 'detractor') as detractors`;
