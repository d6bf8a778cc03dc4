import { opaque, type Part, type Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';
import type { Category, SurveyType } from '../scores.ts';
import { type Facet, facetRows, wouldHaveFacets } from './facets.cte.ts';
import { dayOf, type Range, splitRange } from './range.ts';

/** Which answers are counted: those of an organization, less what a filter leaves out. */
export type NpsScope = {
  survey_id: string | null;
  type: SurveyType | null;
  audience: 'employee' | 'customer' | null;
  range: Range;
  facets: readonly Facet[];
};

export const everything: NpsScope = {
  survey_id: null,
  type: null,
  audience: null,
  range: { from: null, to: null },
  facets: [],
};

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
  if (scope.facets.length > 0) return countRows(sql, orgId, scope);
  const { days, edges } = splitRange(scope.range);
  const parts = edges.map((edge) => countRows(sql, orgId, { ...scope, range: edge }));
  if (days) parts.push(keptTallies(sql, orgId, scope, days));
  return parts.reduce((before, part) => sql`${before} union all ${part}`);
}

type Days = { first: string | null; end: string | null };

function keptTallies(sql: Sql, orgId: OrgId, scope: NpsScope, { first, end }: Days) {
  const ofDays = sql`
    ${first ? sql`and day >= ${opaque(sql, sql`${first}::date`)}` : sql``}
    ${end ? sql`and day < ${opaque(sql, sql`${end}::date`)}` : sql``}`;
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

/** The tallies of days in scope. Where a kind is all that there is, those of the organization are the same and fewer. */
export function keptDays(sql: Sql, orgId: OrgId, scope: NpsScope): Part {
  const { survey_id, type, audience } = scope;
  const days = sql`day, promoters, passives, detractors, by_half_hour, commented`;
  const ofSurveys = sql`
    select ${days} from day_tallies where org_id = ${orgId} ${chosenSurveys(sql, orgId, scope)}`;
  const ofAll = sql`select ${days} from organization_day_tallies where org_id = ${orgId}`;
  if (survey_id) return ofSurveys;
  if (!type && !audience) return ofAll;
  const others = sql`
    select exists (select from surveys where org_id = ${orgId} and not (${ofKind(sql, scope)}))`;
  return sql`${ofAll} and not (${others}) union all ${ofSurveys} and (${others})`;
}

/** Of a range's edge, which is less than a day, or of facets, whose rows stand in an index of their own. */
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

/** The condition that leaves the surveys in scope. */
export function chosenSurveys(sql: Sql, orgId: OrgId, { survey_id, type, audience }: NpsScope) {
  const one = survey_id ? sql`and survey_id = ${survey_id}` : sql``;
  if (!type && !audience) return one;
  return sql`${one} and survey_id in (${surveysOfKind(sql, orgId, { type, audience })})`;
}

type SurveyKind = Pick<NpsScope, 'type' | 'audience'>;

export const surveysOfKind = (sql: Sql, orgId: OrgId, kind: SurveyKind): Part => sql`
  select id
  from surveys
  where org_id = ${orgId} and ${ofKind(sql, kind)}`;

const ofKind = (sql: Sql, { type, audience }: SurveyKind) => sql`
  ${type ? sql`type = ${type}` : sql`true`}
  ${audience ? sql`and (audience = 'employee') is ${audience === 'employee' ? sql`true` : sql`not true`}` : sql``}`;

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
