import type { Part, Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';
import { chosenSurveys, type NpsScope } from './scope.cte.ts';
import { countedRows } from './totals.queries.ts';
import { edges, facetDaysOfTrend } from './trend.queries.ts';
import type { TrendRows } from './trend.rules.ts';

type ScoresOfRows = { scope: NpsScope; rows: TrendRows };

/** The sums of the scores in the rows of a trend, of surveys of one scale, as a JSON array. They count what the trend counts. */
export const sumScores = (sql: Sql, orgId: OrgId, { scope, rows }: ScoresOfRows): Part => sql`(
  with ${edges(sql, rows)},
  bounds as materialized (
    select min(day) as first_day, max(day) as last_day, array_agg(day order by row) as days
    from edges
  ), near_edges as materialized (
    select row, sign * coalesce(sum(score), 0) as scores
    from edges
    cross join lateral (
      select score
      from ${countedRows(sql, orgId, scope)}
        and created_at >= least(at, midnight) and created_at < greatest(at, midnight)
    ) r
    where at <> midnight
    group by row, sign
  ), parts as (
    select width_bucket(day, (select days from bounds)) as row, sum(score_sum) as scores
    from ${scoreSumsByDay(sql, orgId, scope)}
      and day >= (select first_day from bounds) and day < (select last_day from bounds)
    group by 1
    union all
    select row, scores from near_edges
    union all
    select row - 1, -scores from near_edges
  )
  select json_agg(scores order by row)
  from (
    select row, coalesce(sum(scores), 0)::int as scores
    from generate_series(1, ${rows.starts.length}::int) row
    left join parts using (row)
    group by row
  ) sums
)`;

const scoreSumsByDay = (sql: Sql, orgId: OrgId, scope: NpsScope) =>
  scope.facets.length > 0
    ? sql`(${facetDaysOfTrend(sql, orgId, { scope, withScores: true })}) days_of_facets where true`
    : sql`day_tallies where org_id = ${orgId} ${chosenSurveys(sql, orgId, scope)}`;

/** Enough to know how far scores are spread, however many there are. */
const largestSample = 5_000;

type ScoresOfDays = { scope: NpsScope; from: string; to: string; timeZone: string };

/** The variance of the newest scores of local days, both included; null under two of them. */
export const sampleVariance = (
  sql: Sql,
  orgId: OrgId,
  { scope, from, to, timeZone }: ScoresOfDays,
): Part => sql`(
  select var_samp(score)::float8
  from (
    select score
    from ${countedRows(sql, orgId, scope)}
      and created_at >= ${from}::timestamp at time zone ${timeZone}
      and created_at < (${to}::date + 1)::timestamp at time zone ${timeZone}
    order by created_at desc
    limit ${largestSample}
  ) newest
)`;
