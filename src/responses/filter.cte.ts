import type { Part, Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';
import type { Category, SurveyType } from '../scores.ts';
import { type Facet, facetRows, hasFacets, wouldHaveFacets } from './facets.cte.ts';
import type { Range } from './range.ts';
import { surveysOfKind } from './scope.cte.ts';
import { countedColumn, opaqueTime, tallies } from './totals.queries.ts';

/** Which responses of an organization are listed. */
export type ResponseFilter = {
  survey_id: string | null;
  /** The kind of its survey. */
  type: SurveyType | null;
  audience: 'employee' | 'customer' | null;
  category: Category | null;
  range: Range;
  /** What the comment, the contact's address or name must be like. */
  pattern: string | null;
  held: boolean;
  facets: readonly Facet[];
  hasComment: boolean | null;
  language: string | null;
  state: 'open' | 'done' | null;
  /** The address of a member, or `noOwner`. */
  owner: string | null;
};

/** No address is this word. */
export const noOwner = 'none';

export const allResponses: ResponseFilter = {
  survey_id: null,
  type: null,
  audience: null,
  category: null,
  range: { from: null, to: null },
  pattern: null,
  held: false,
  facets: [],
  hasComment: null,
  language: null,
  state: null,
  owner: null,
};

/**
 * The filtered responses, as a source `r` with id and created_at, and its conditions. What facets do not know is
 * looked up row by row: most days are known without, and what is left is little.
 */
export function filteredRows(sql: Sql, orgId: OrgId, filter: ResponseFilter): Part {
  if (!readsFacets(filter)) return sql`responses r where ${matches(sql, orgId, filter)}`;
  const own = ownConditions(sql, orgId, filter);
  return sql`${facetRows(sql, orgId, filter.facets)} r
    where true ${indexed(sql, orgId, filter)}
    ${own ? sql`and (select true from responses o where o.org_id = ${orgId} and o.id = r.id ${own(sql`o`)})` : sql``}`;
}

/** Whether the rows are those of the facets, which know only what their index has. */
const readsFacets = ({ facets, held, pattern }: ResponseFilter) =>
  facets.length > 0 && !held && pattern === null;

/** The conditions on a row `r` of responses, without those of a search. */
export function matches(sql: Sql, orgId: OrgId, filter: ResponseFilter): Part {
  const { held, facets } = filter;
  const own = ownConditions(sql, orgId, filter);
  return sql`
    r.org_id = ${orgId} and r.held_reason is ${held ? sql`not null` : sql`null`}
    ${indexed(sql, orgId, filter)}
    ${own ? own(sql`r`) : sql``}
    ${held ? wouldHaveFacets(sql, facets) : hasFacets(sql, { orgId, facets }, sql`r.created_at, r.id`)}`;
}

const indexed = (sql: Sql, orgId: OrgId, filter: ResponseFilter) => sql`
  ${filter.survey_id ? sql`and r.survey_id = ${filter.survey_id}` : sql``}
  ${filter.type || filter.audience ? ofKind(sql, orgId, filter) : sql``}
  ${filter.category ? sql`and r.category = ${filter.category}` : sql``}
  ${filter.range.from ? sql`and r.created_at >= ${opaqueTime(sql, filter.range.from)}` : sql``}
  ${filter.range.to ? sql`and r.created_at < ${opaqueTime(sql, filter.range.to)}` : sql``}`;

/** Of surveys of a kind, on the days that these have: to look for a few among all others would take long. */
function ofKind(sql: Sql, orgId: OrgId, { type, audience, held }: ResponseFilter) {
  const surveys = surveysOfKind(sql, orgId, { type, audience });
  const days = (order: Part) => sql`
    from surveys s
    cross join lateral (
      select day from day_tallies where org_id = ${orgId} and survey_id = s.id order by day ${order} limit 1
    ) tallied
    where s.org_id = ${orgId} and s.id in (${surveys})`;
  return sql`and r.survey_id in (${surveys})
    ${
      held
        ? sql``
        : sql`
    and r.created_at >= (select min(day)::timestamp at time zone 'UTC' ${days(sql`asc`)})
    and r.created_at < (select (max(day) + 1)::timestamp at time zone 'UTC' ${days(sql`desc`)})`
    }`;
}

/** Conditions on columns that only responses have, for a source of the given name; undefined without any. */
function ownConditions(sql: Sql, orgId: OrgId, filter: ResponseFilter) {
  const { hasComment, language, state, owner } = filter;
  if (!hasOwnConditions(filter)) return undefined;
  return (row: Part) => sql`
    ${hasComment === null ? sql`` : sql`and ${row}.comment is ${hasComment ? sql`not null` : sql`null`}`}
    ${language ? sql`and ${row}.language = ${language}` : sql``}
    ${state ? sql`and ${row}.state = ${state}` : sql``}
    ${owner ? ownerCondition(sql, orgId, { owner, row }) : sql``}`;
}

const ownerCondition = (sql: Sql, orgId: OrgId, { owner, row }: { owner: string; row: Part }) =>
  owner === noOwner
    ? sql`and ${row}.owner_id is null`
    : sql`and ${row}.owner_id = (${memberOf(sql, orgId, owner)})`;

const hasOwnConditions = ({ hasComment, language, state, owner }: ResponseFilter) =>
  hasComment !== null || language !== null || state !== null || owner !== null;

/** The member of the organization with an address. */
export const memberOf = (sql: Sql, orgId: OrgId, email: string): Part => sql`
  select m.id
  from members m
  join memberships ms on ms.org_id = ${orgId} and ms.member_id = m.id
  where m.email_key = lower(${email}::text)`;

/** Whether nothing but what is tallied is asked for. */
export const isTallied = (filter: ResponseFilter) =>
  !filter.held &&
  filter.pattern === null &&
  filter.facets.length === 0 &&
  !hasOwnConditions(filter);

/** How many responses a filter leaves that is tallied, or lists what is on hold: as a query of one value. */
export const countFiltered = (sql: Sql, orgId: OrgId, filter: ResponseFilter): Part =>
  isTallied(filter)
    ? countTallied(sql, orgId, filter)
    : sql`select count(*)::int from ${filteredRows(sql, orgId, filter)}`;

function countTallied(sql: Sql, orgId: OrgId, filter: ResponseFilter) {
  const { survey_id, type, audience, category, range, facets } = filter;
  return sql`
    select coalesce(sum(${countedColumn(sql, category)}), 0)::int
    from (${tallies(sql, orgId, { survey_id, type, audience, range, facets })}) t`;
}
