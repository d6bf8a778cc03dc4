import { opaque, type Part, type Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';
import type { Category } from '../scores.ts';
import { facetRows, wouldHaveFacets } from './facets.cte.ts';
import { type Range, splitRange } from './range.ts';
import { chosenSurveys, type NpsScope } from './scope.cte.ts';

/** How many responses in scope fell into each category, and how many are on hold, as JSON of a `HeldTally`. */
export const countCategories = (sql: Sql, orgId: OrgId, scope: NpsScope): Part => sql`(
  select row_to_json(tally)::text
  from (
    select coalesce(sum(promoters), 0)::int  as promoters,
           coalesce(sum(passives), 0)::int   as passives,
           coalesce(sum(detractors), 0)::int as detractors,
           (${countHeld(sql, orgId, scope)}) as held
    from (${tallies(sql, orgId, scope)}) t
  ) tally
)`;

const countHeld = (sql: Sql, orgId: OrgId, scope: NpsScope) => sql`
  select count(*)::int
  from responses r
  where org_id = ${orgId} and held_reason is not null ${wouldHaveFacets(sql, scope.facets)}
    ${within(sql, sql`created_at`, scope.range)}
    ${chosenSurveys(sql, orgId, scope)}`;

/** The rows whose sums are the totals in scope: kept tallies of whole hours, counted rows of the rest. With facets all rows are counted. */
export function tallies(sql: Sql, orgId: OrgId, scope: NpsScope) {
  if (scope.facets.length > 0) return countRows(sql, orgId, scope);
  const { hours, edges } = splitRange(scope.range);
  const parts = edges.map((edge) => countRows(sql, orgId, { ...scope, range: edge }));
  if (hours) parts.push(keptTallies(sql, orgId, { ...scope, range: hours }));
  return parts.reduce((before, part) => sql`${before} union all ${part}`);
}

function keptTallies(sql: Sql, orgId: OrgId, scope: NpsScope) {
  const { from, to } = scope.range;
  return sql`
    select promoters, passives, detractors
    from ${from || to ? sql`hour_tallies` : sql`survey_tallies`}
    where org_id = ${orgId} ${chosenSurveys(sql, orgId, scope)} ${within(sql, sql`hour`, scope.range)}`;
}

const countRows = (sql: Sql, orgId: OrgId, scope: NpsScope) => sql`
  select count(*) filter (where category = 'promoter')  as promoters,
         count(*) filter (where category = 'passive')   as passives,
         count(*) filter (where category = 'detractor') as detractors
  from ${countedRows(sql, orgId, scope)} ${within(sql, sql`created_at`, scope.range)}`;

/** The condition that a time is in a range. */
export const within = (sql: Sql, time: Part, { from, to }: Range): Part => sql`
  ${from ? sql`and ${time} >= ${opaque(sql, sql`${from}::timestamptz`)}` : sql``}
  ${to ? sql`and ${time} < ${opaque(sql, sql`${to}::timestamptz`)}` : sql``}`;

/** The responses in scope at any time, as a source and its conditions. */
export const countedRows = (sql: Sql, orgId: OrgId, scope: NpsScope): Part =>
  scope.facets.length > 0
    ? sql`${facetRows(sql, orgId, scope.facets)} r where true ${chosenSurveys(sql, orgId, scope)}`
    : sql`responses r where org_id = ${orgId} and held_reason is null ${chosenSurveys(sql, orgId, scope)}`;

/** The column of a tally that counts a category; without one, all of them. */
export function countedColumn(sql: Sql, category: Category | null) {
  if (category === 'promoter') return sql`promoters`;
  if (category === 'passive') return sql`passives`;
  if (category === 'detractor') return sql`detractors`;
  return sql`promoters + passives + detractors`;
}
