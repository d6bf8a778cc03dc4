import type { Sql } from '../lib/db/db.ts';
import { readJson } from '../lib/paging/paged-json.ts';
import { chosenSurveys, type NpsScope } from './totals.queries.ts';
import { edges } from './trend.queries.ts';
import type { TrendRows } from './trend.rules.ts';

/** The sum of the scores in each row of a trend, of surveys of one scale. It counts what the trend counts. */
export async function sumScores(
  sql: Sql,
  orgId: string,
  { scope, rows }: { scope: NpsScope; rows: TrendRows },
): Promise<number[]> {
  return await readJson<number[]>(
    sql,
    sql`(
      with ${edges(sql, rows)},
      bounds as materialized (
        select min(day) as first_day, max(day) as last_day, array_agg(day order by row) as days
        from edges
      ), near_edges as materialized (
        select row, sign * coalesce(sum(score), 0) as scores
        from edges
        left join responses r
          on org_id = ${orgId} and held_reason is null ${chosenSurveys(sql, orgId, scope)}
          and created_at >= least(at, midnight) and created_at < greatest(at, midnight)
        where at <> midnight
        group by row, sign
      ), parts as (
        select width_bucket(day, (select days from bounds)) as row, sum(score_sum) as scores
        from day_tallies
        where org_id = ${orgId} ${chosenSurveys(sql, orgId, scope)}
          and day >= (select first_day from bounds) and day < (select last_day from bounds)
        group by 1
        union all
        select row, scores from near_edges
        union all
        select row - 1, -scores from near_edges
      )
      select json_agg(scores order by row)::text
      from (
        select row, coalesce(sum(scores), 0)::int as scores
        from generate_series(1, ${rows.starts.length}::int) row
        left join parts using (row)
        group by row
      ) sums
    )`,
  );
}

/** Enough to know how far scores are spread, however many there are. */
const largestSample = 5_000;

/** The variance of the newest scores of a range of days; null under two of them. */
export async function sampleVariance(
  sql: Sql,
  orgId: string,
  { scope, rows }: { scope: NpsScope; rows: TrendRows },
): Promise<number | null> {
  const [first, last] = [rows.edges[0]!, rows.edges.at(-1)!];
  const [row] = await sql<{ variance: number | null }[]>`
    select var_samp(score)::float8 as variance
    from (
      select score
      from responses
      where org_id = ${orgId} and held_reason is null ${chosenSurveys(sql, orgId, scope)}
        and created_at >= ${first}::timestamp at time zone ${rows.timeZone}
        and created_at < ${last}::timestamp at time zone ${rows.timeZone}
      order by created_at desc
      limit ${largestSample}
    ) newest`;
  return row?.variance ?? null;
}
