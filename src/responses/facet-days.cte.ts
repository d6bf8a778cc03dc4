import type { Part, Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';
import type { Category } from '../scores.ts';
import { setOfDay, setsOfDays } from './facet-sets.cte.ts';
import { type Facet, facetOf, facetRows } from './facets.cte.ts';
import { chosenSurveys, type NpsScope, ofKind } from './scope.cte.ts';
import { columnFacet, scopeConditions } from './set-conditions.cte.ts';

/** Whole UTC days as values of SQL, the first up to but without the end; null is without an end on that side. */
type DayBounds = { first: Part | null; end: Part | null };

type Counting = DayBounds & {
  /** How the rows of the days that are not kept are summed up: as few sums as there are stretches of them, or day by day. */
  each: 'stretch' | 'day';
  /** Of several facets the sums of scores are not kept: then all rows are read for them. */
  withScores?: boolean;
  /** Of several facets, whether the sets of the three categories are wanted in the column `sets`. */
  withSets?: boolean;
};

/**
 * The tallies of the responses in scope, which has facets: those that are kept of days, and in addition what the rows
 * of all other days come to. These lie in as few stretches as there are between kept days. One facet has kept figures;
 * what has several is counted from the sets of days.
 */
export function facetDays(
  sql: Sql,
  orgId: OrgId,
  { scope, ...counting }: Counting & { scope: NpsScope },
): Part {
  const { first, end } = counting;
  return sql`
    with ${figuresOf(sql, orgId, { scope, ...counting })},
    stretches as (
      select coalesce(lag(day) over (order by day) + 1, ${first ?? sql`date '-infinity'`}) as first, day as after_last
      from (
        select distinct day from figures
        union all
        select ${end ?? sql`date 'infinity'`}
      ) days
    )
    select day, promoters, passives, detractors, score_sum, by_half_hour, sets
    from figures
    where true ${scope.facets.length === 1 ? figuresOfKind(sql, scope) : sql``}
    union all
    select counted.day, promoters, passives, detractors, score_sum, null, null
    from stretches
    cross join lateral (
      select ${counting.each === 'day' ? sql`utc_day(created_at)` : sql`null::date`} as day,
             count(*) filter (where category = 'promoter')  as promoters,
             count(*) filter (where category = 'passive')   as passives,
             count(*) filter (where category = 'detractor') as detractors,
             sum(score) as score_sum
      from ${facetRows(sql, orgId, scope.facets)} r
      where created_at >= first::timestamp at time zone 'UTC'
        and created_at < after_last::timestamp at time zone 'UTC' ${chosenSurveys(sql, orgId, scope)}
      ${counting.each === 'day' ? sql`group by 1` : sql``}
    ) counted
    where first < after_last`;
}

function figuresOf(sql: Sql, orgId: OrgId, counting: Counting & { scope: NpsScope }) {
  const [facet, ...others] = counting.scope.facets;
  if (facet && others.length === 0) return keptFigures(sql, orgId, { facet, ...counting });
  return counting.withScores ? noFigures(sql) : countedSets(sql, orgId, counting);
}

/** Of the days whose sets are kept: the kind of the surveys is among the conditions. */
function countedSets(
  sql: Sql,
  orgId: OrgId,
  { scope, first, end, withSets = false }: Counting & { scope: NpsScope },
) {
  const conditions = scopeConditions(sql, scope);
  const setOf = (category: Category) => {
    const set = setOfDay(sql, orgId, columnFacet(sql, 'category', sql`${category}::text`));
    return sql`bits & ${set}`;
  };
  return sql`
  figures as materialized (
    select day, coalesce(bit_count(of_promoters), 0) as promoters, coalesce(bit_count(of_passives), 0) as passives,
           coalesce(bit_count(of_detractors), 0) as detractors, null::bigint as score_sum, null::integer[] as by_half_hour,
           ${withSets ? sql`array[of_promoters, of_passives, of_detractors]` : sql`null::varbit[]`} as sets
    from (
      select day, ${setOf('promoter')} as of_promoters, ${setOf('passive')} as of_passives,
             ${setOf('detractor')} as of_detractors
      from (${setsOfDays(sql, orgId, { conditions, first, end })}) d
      offset 0
    ) sets
  )`;
}

type KeptFigures = DayBounds & { scope: NpsScope; facet: Facet };

/** Of days whose responses and facets are as they were when they were counted. */
const keptFigures = (sql: Sql, orgId: OrgId, { scope, facet, first, end }: KeptFigures) => sql`
  kept as materialized (
    select day, type, employees, promoters, passives, detractors, score_sum, by_half_hour
    from facet_day_tallies
    where org_id = ${orgId} and facet = ${facetOf(sql, facet)}
      and survey_id ${scope.survey_id ? sql`= ${scope.survey_id}` : sql`is null`}
      ${first ? sql`and day >= ${first}` : sql``}
      ${end ? sql`and day < ${end}` : sql``}
  ), figures as materialized (
    select *, null::varbit[] as sets
    from kept
    where day not in (
      select day
      from facet_changes
      where org_id = ${orgId} and day between (select min(day) from kept) and (select max(day) from kept)
      union all
      select day
      from organization_day_tallies
      where org_id = ${orgId} and by_half_hour is null
        and day between (select min(day) from kept) and (select max(day) from kept)
    )
  )`;

const noFigures = (sql: Sql) => sql`
  figures as (
    select null::date as day, 0 as promoters, 0 as passives, 0 as detractors, 0 as score_sum,
           null::integer[] as by_half_hour, null::varbit[] as sets
    where false
  )`;

const figuresOfKind = (sql: Sql, { type, audience }: NpsScope) =>
  type || audience ? sql`and ${ofKind(sql, { type, audience }, sql`employees`)}` : sql``;
