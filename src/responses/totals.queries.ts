import { opaque, type Part, type Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';
import type { Category } from '../scores.ts';
import { facetDays } from './facet-days.cte.ts';
import { facetRows, wouldHaveFacets } from './facets.cte.ts';
import { dayOf, splitRange } from './range.ts';
import { chosenSurveys, type NpsScope, ofKind } from './scope.cte.ts';

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
    ${scope.range.from ? sql`and created_at >= ${opaqueTime(sql, scope.range.from)}` : sql``}
    ${scope.range.to ? sql`and created_at < ${opaqueTime(sql, scope.range.to)}` : sql``}
    ${chosenSurveys(sql, orgId, scope)}`;

/** The rows whose sums are the totals in scope: kept tallies of whole days, counted rows of the rest. */
export function tallies(sql: Sql, orgId: OrgId, scope: NpsScope) {
  const { days, edges } = splitRange(scope.range);
  const parts = edges.map((edge) => countRows(sql, orgId, { ...scope, range: edge }));
  if (days && scope.facets.length > 0) parts.push(facetTallies(sql, orgId, scope, days));
  else if (days) parts.push(keptTallies(sql, orgId, scope, days));
  return parts.reduce((before, part) => sql`${before} union all ${part}`);
}

type Days = { first: string | null; end: string | null };

function facetTallies(sql: Sql, orgId: OrgId, scope: NpsScope, { first, end }: Days) {
  const bounds = {
    first: first ? dayValue(sql, first) : null,
    end: end ? dayValue(sql, end) : null,
  };
  return sql`
    select promoters, passives, detractors
    from (${facetDays(sql, orgId, { scope, ...bounds, each: 'stretch' })}) days_of_facets`;
}

function keptTallies(sql: Sql, orgId: OrgId, scope: NpsScope, { first, end }: Days) {
  const ofDays = sql`
    ${first ? sql`and day >= ${dayValue(sql, first)}` : sql``}
    ${end ? sql`and day < ${dayValue(sql, end)}` : sql``}`;
  const ofSurveys = chosenSurveys(sql, orgId, scope);
  if (!first && !end) {
    return sql`
      select promoters, passives, detractors
      from survey_tallies
      where org_id = ${orgId} ${ofSurveys}`;
  }
  return sql`
    select promoters, passives, detractors
    from (${keptDays(sql, orgId, scope)}) kept
    where true ${ofDays}`;
}

const dayValue = (sql: Sql, day: string) => opaque(sql, sql`${day}::date`);

/** The tallies of days in scope. Where a kind is all that there is, those of the organization are the same and fewer. */
export function keptDays(sql: Sql, orgId: OrgId, scope: NpsScope): Part {
  const { survey_id, type, audience } = scope;
  const days = sql`day, promoters, passives, detractors, by_half_hour`;
  const ofSurveys = sql`
    select ${days} from day_tallies where org_id = ${orgId} ${chosenSurveys(sql, orgId, scope)}`;
  const ofAll = sql`select ${days} from organization_day_tallies where org_id = ${orgId}`;
  if (survey_id) return ofSurveys;
  if (!type && !audience) return ofAll;
  const others = sql`
    select exists (select from surveys where org_id = ${orgId} and not (${ofKind(sql, scope)}))`;
  return sql`${ofAll} and not (${others}) union all ${ofSurveys} and (${others})`;
}

/** Of a range's edge, which is less than a day. */
const countRows = (sql: Sql, orgId: OrgId, scope: NpsScope) => sql`
  select count(*) filter (where category = 'promoter')  as promoters,
         count(*) filter (where category = 'passive')   as passives,
         count(*) filter (where category = 'detractor') as detractors
  from ${countedRows(sql, orgId, scope)}
    ${scope.range.from ? sql`and created_at >= ${opaqueTime(sql, scope.range.from)}` : sql``}
    ${scope.range.to ? sql`and created_at < ${opaqueTime(sql, scope.range.to)}` : sql``}`;

/** The responses in scope at any time, as a source and its conditions. */
export const countedRows = (sql: Sql, orgId: OrgId, scope: NpsScope): Part =>
  scope.facets.length > 0
    ? sql`${facetRows(sql, orgId, scope.facets)} r where true ${chosenSurveys(sql, orgId, scope)}`
    : sql`responses r where org_id = ${orgId} and held_reason is null ${chosenSurveys(sql, orgId, scope)}`;

/** The bounds of a range, as `opaque` values. */
export const opaqueTime = (sql: Sql, time: Date): Part => opaque(sql, sql`${time}::timestamptz`);
export const opaqueDay = (sql: Sql, time: Date): Part => opaque(sql, sql`${dayOf(time)}::date`);

/** The column of a tally that counts a category; without one, all of them. */
export function countedColumn(sql: Sql, category: Category | null) {
  if (category === 'promoter') return sql`promoters`;
  if (category === 'passive') return sql`passives`;
  if (category === 'detractor') return sql`detractors`;
  return sql`promoters + passives + detractors`;
}
