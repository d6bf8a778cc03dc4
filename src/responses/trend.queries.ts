import type { Part, Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';
import type { Category } from '../scores.ts';
import { facetDays } from './facet-days.cte.ts';
import { wouldHaveFacets } from './facets.cte.ts';
import { chosenSurveys, type NpsScope, ofKindByTime } from './scope.cte.ts';
import { countedRows, keptDays } from './totals.queries.ts';
import { edgeTimes, type TrendRows } from './trend.rules.ts';

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
  ${tallied(sql, orgId, { scope, rows })},
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
  select concat('[', string_agg(concat('{"promoters":', promoters, ',"passives":', passives, ',"detractors":', detractors,
                                       ',"held":', held, '}'), ',' order by row), ']')
  from (
    select row, coalesce(sum(promoters), 0)::int as promoters, coalesce(sum(passives), 0)::int as passives,
           coalesce(sum(detractors), 0)::int as detractors, coalesce(sum(held), 0)::int as held
    from generate_series(1, ${rows.starts.length}::int) row
    left join parts using (row)
    group by row
  ) tally
)`;

/**
 * Where rows begin and end: the instant, the UTC midnight next to it, and whether that comes after it. All of it is whole
 * numbers since the year 1: for Postgres to look a zone up for each row takes longer than all else of a trend.
 */
export const edges = (sql: Sql, rows: TrendRows) => sql`
  edges as materialized (
    select row, ${instant(sql, sql`t`)} as at, ${instant(sql, sql`${dayMs}::bigint * next`)} as midnight,
           ${firstDay(sql)} + next as day, case when t < ${dayMs}::bigint * next then 1 else -1 end as sign,
           ${instant(sql, sql`t / ${halfHourMs}::bigint * ${halfHourMs}::bigint`)} as half_at,
           ${firstDay(sql)} + (t / ${dayMs}::bigint)::int as own_day, (t / ${halfHourMs}::bigint % 48)::int as half
    from (
      select row::int, t, ((t + ${dayMs / 2}::bigint) / ${dayMs}::bigint)::int as next
      from unnest(${sinceYearOne(rows)}::text::bigint[]) with ordinality as d (t, row)
    ) instants
  )`;

const dayMs = 86_400_000;
const halfHourMs = 1_800_000;
/** Of the first day of the year 1, in milliseconds of JavaScript: later times are positive and divide as whole numbers. */
const yearOne = -62_135_596_800_000;

const firstDay = (sql: Sql) => sql`date '0001-01-01'`;
const instant = (sql: Sql, time: Part) =>
  sql`to_timestamp((${time} + ${yearOne}::bigint)::float8 / 1000)`;
const sinceYearOne = (rows: TrendRows) =>
  `{${edgeTimes(rows)
    .map((time) => time - yearOne)
    .join(',')}}`;

type TrendOf = { scope: NpsScope; rows: TrendRows };

/** From the tallies of days, and what lies between the edges and the midnights next to them. */
const tallied = (sql: Sql, orgId: OrgId, { scope, rows }: TrendOf) => sql`
  kept_days as ${daysOfTrend(sql, orgId, { scope, rows })},
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
function daysOfTrend(sql: Sql, orgId: OrgId, { scope, rows }: TrendOf) {
  if (scope.facets.length > 0)
    return sql`materialized (${facetDaysOfTrend(sql, orgId, { scope, withSets: !isOfWholeDays(rows) })})`;
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
  { scope, ...wanted }: { scope: NpsScope; withScores?: boolean; withSets?: boolean },
) =>
  facetDays(sql, orgId, {
    scope,
    ...wanted,
    first: sql`(select first_day - 1 from bounds)`,
    end: sql`(select last_day + 1 from bounds)`,
    each: 'day',
  });

/**
 * How many responses lie between each edge and its midnight. Where the half hours of its day are known, only
 * what lies between the edge and the half hour before it is counted, which in most zones is nothing. A day without
 * a tally has no responses.
 */
const nearEdges = (sql: Sql, orgId: OrgId, scope: NpsScope) => sql`
  halves as materialized (
    select row, at, midnight, sign, half_at,
           coalesce(bool_and(${halvesOf(scope)(sql)} is not null) filter (where kept_days.day is not null), true) as are_known,
           ${sinceMidnight(sql, scope, 'promoter')}  as promoters,
           ${sinceMidnight(sql, scope, 'passive')}   as passives,
           ${sinceMidnight(sql, scope, 'detractor')} as detractors
    from edges
    left join kept_days
      on kept_days.day = own_day
      and kept_days.day >= (select first_day - 1 from bounds) and kept_days.day <= (select last_day from bounds)
    ${scope.facets.length > 1 ? responsesBefore(sql, orgId) : sql``}
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
      from ${countedRows(sql, orgId, { ...scope, type: null, audience: null })} ${ofKindByTime(sql, orgId, scope)}
        and (not are_known or at <> half_at) and category in ('promoter', 'passive', 'detractor')
        and created_at >= case when are_known then half_at else least(at, midnight) end
        and created_at < case when are_known then at else greatest(at, midnight) end
    ) c
  )`;

/** What says of a day how many of its responses came before a half hour: of several facets the set of each category. */
const halvesOf = ({ facets }: NpsScope) =>
  facets.length > 1 ? (sql: Sql) => sql`sets` : (sql: Sql) => sql`by_half_hour`;

/** Sets have the newest response first: what came before a half hour are their last bits, as many as came before it in all. */
const responsesBefore = (sql: Sql, orgId: OrgId) => sql`
    left join lateral (
      select coalesce(sum(by_half_hour[3 * half - 2] + by_half_hour[3 * half - 1] + by_half_hour[3 * half]), 0)::int as many
      from organization_day_tallies
      where org_id = ${orgId} and day = own_day and sets is not null
    ) before on true`;

const places = { promoter: 1, passive: 2, detractor: 3 } as const;
const columns = { promoter: 'promoters', passive: 'passives', detractor: 'detractors' } as const;

/** Between the half hour before an edge and its midnight, which is that of its own day or of the next. */
function sinceMidnight(sql: Sql, { facets }: NpsScope, category: Category) {
  const place = sql`${places[category]}::int`;
  const earlier =
    facets.length > 1
      ? sql`bit_count(substring(sets[${place}] from length(sets[${place}]) - many + 1))`
      : sql`by_half_hour[3 * half - 3 + ${place}]`;
  return sql`
  coalesce(sum(case sign when 1 then ${sql(columns[category])} end), 0) - sum(sign * coalesce(${earlier}, 0))`;
}

const categoryCounts = (sql: Sql) => sql`
  count(*) filter (where category = 'promoter')  as promoters,
  count(*) filter (where category = 'passive')   as passives,
  count(*) filter (where category = 'detractor') as detractors`;
