import type { Part, Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';
import type { Category, SurveyType } from '../scores.ts';
import {
  areLarge,
  type Facet,
  facetOf,
  facetRows,
  hasFacets,
  wouldHaveFacets,
} from './facets.cte.ts';
import type { Range } from './range.ts';
import { surveysOfKind } from './scope.cte.ts';
import { countedColumn, tallies, within } from './totals.queries.ts';

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
  /** With any owner: asked for only to count those without. */
  isOwned?: true;
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
 * The filtered responses, as a source `r` with id and created_at, and its conditions. A facet with few responses is
 * the place to begin. When all facets are large, the index of another condition may leave fewer. Each of these two has
 * an order of its own, so that Postgres stops after a page of them.
 */
export function filteredRows(
  sql: Sql,
  orgId: OrgId,
  filter: ResponseFilter,
  way: 'older' | 'newer' = 'older',
): Part {
  const { facets } = filter;
  if (!readsFacets(filter)) return sql`
    -- organization: caller
    responses r where ${matches(sql, orgId, filter)}`;
  if (!hasOwnConditions(filter)) return facetedRows(sql, orgId, filter);
  const order = way === 'older' ? sql`desc` : sql`asc`;
  return sql`
    -- organization: caller
    (
    (
      select r.id, r.created_at
      from ${facetedRows(sql, orgId, filter)} and not ${areLarge(sql, orgId, facets)}
      order by r.created_at ${order}, r.id ${order}
    )
    union all
    (
      select r.id, r.created_at
      from responses r
      where ${matches(sql, orgId, filter)} and ${areLarge(sql, orgId, facets)}
      order by r.created_at ${order}, r.id ${order}
    )
  ) r where true`;
}

const readsFacets = ({ facets, held, pattern }: ResponseFilter) =>
  facets.length > 0 && !held && pattern === null;

/** The rows of the rarest facet, with all other conditions looked up. */
function facetedRows(sql: Sql, orgId: OrgId, filter: ResponseFilter): Part {
  const own = ownConditions(sql, orgId, filter, sql`o`);
  return sql`${facetRows(sql, orgId, filter.facets)} r
    where true ${indexed(sql, orgId, filter)}
      ${own.length > 0 ? sql`and (select true from responses o where o.org_id = ${orgId} and o.id = r.id ${allOf(sql, own)})` : sql``}`;
}

/** The conditions on a row `r` of responses, without those of a search. */
export function matches(sql: Sql, orgId: OrgId, filter: ResponseFilter): Part {
  const { held, facets } = filter;
  return sql`
    r.org_id = ${orgId} and r.held_reason is ${held ? sql`not null` : sql`null`}
    ${indexed(sql, orgId, filter)}
    ${allOf(sql, ownConditions(sql, orgId, filter, sql`r`))}
    ${held ? wouldHaveFacets(sql, facets) : hasFacets(sql, { orgId, facets }, sql`r.created_at, r.id`)}`;
}

const indexed = (sql: Sql, orgId: OrgId, filter: ResponseFilter) => sql`
  ${filter.survey_id ? sql`and r.survey_id = ${filter.survey_id}` : sql``}
  ${filter.type || filter.audience ? ofKind(sql, orgId, filter) : sql``}
  ${filter.category ? sql`and r.category = ${filter.category}` : sql``}
  ${within(sql, sql`r.created_at`, filter.range)}`;

/** Limits to surveys of a kind, in the time in which they have responses: to look for a few among all others would take long. */
function ofKind(sql: Sql, orgId: OrgId, { type, audience, held }: ResponseFilter) {
  const surveys = surveysOfKind(sql, orgId, { type, audience });
  const hours = (order: Part) => sql`
    from surveys s
    cross join lateral (
      select hour from hour_tallies where org_id = ${orgId} and survey_id = s.id order by hour ${order} limit 1
    ) tallied
    where s.org_id = ${orgId} and s.id in (${surveys})`;
  return sql`and r.survey_id in (${surveys})
    ${
      held
        ? sql``
        : sql`
    and r.created_at >= (select min(hour) ${hours(sql`asc`)})
    and r.created_at < (select max(hour) + interval '1 hour' ${hours(sql`desc`)})`
    }`;
}

/** Conditions on columns that only responses have, of a source with the given name. Each but a lack has an index. */
function ownConditions(sql: Sql, orgId: OrgId, filter: ResponseFilter, row: Part): Part[] {
  const { hasComment, language, state, owner, isOwned } = filter;
  const conditions: Part[] = [];
  if (hasComment !== null) {
    conditions.push(sql`${row}.comment is ${hasComment ? sql`not null` : sql`null`}`);
  }
  if (language) conditions.push(sql`${row}.language = ${language}`);
  if (state) conditions.push(sql`${row}.state = ${state}`);
  if (isOwned) conditions.push(sql`${row}.owner_id is not null`);
  if (owner === noOwner) conditions.push(sql`${row}.owner_id is null`);
  else if (owner) conditions.push(sql`${row}.owner_id = (${memberOf(sql, orgId, owner)})`);
  return conditions;
}

const allOf = (sql: Sql, conditions: readonly Part[]) =>
  conditions.reduce((before, condition) => sql`${before} and ${condition}`, sql``);

const hasOwnConditions = ({ hasComment, language, state, owner, isOwned }: ResponseFilter) =>
  hasComment !== null || language !== null || state !== null || owner !== null || isOwned === true;

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

/** How many responses a filter leaves, as a query of one value. No index finds what lacks an owner or a comment: what has one is taken off. */
export function countFiltered(sql: Sql, orgId: OrgId, filter: ResponseFilter): Part {
  if (isTallied(filter)) return countTallied(sql, orgId, filter);
  const { owner, hasComment, held } = filter;
  const difference = (all: Partial<ResponseFilter>, having: Partial<ResponseFilter>) => sql`
    select (${countFiltered(sql, orgId, { ...filter, ...all })})
      - (${countFiltered(sql, orgId, { ...filter, ...having })})`;
  if (owner === noOwner && !held)
    return difference({ owner: null }, { owner: null, isOwned: true });
  if (hasComment === false && !held) return difference({ hasComment: null }, { hasComment: true });
  return countCombined(sql, orgId, filter);
}

/** Where several conditions leave many rows each, their indexes are merged. */
function countCombined(sql: Sql, orgId: OrgId, filter: ResponseFilter): Part {
  const [first, ...others] = filter.held ? [] : indexedConditions(sql, orgId, filter);
  if (!first || others.length === 0) {
    return sql`select count(*)::int from ${filteredRows(sql, orgId, filter)}`;
  }
  const merged = others.reduce((before, each) => inBoth(sql, before, each), first);
  const count = sql`select count(*)::int from (${merged}) merged`;
  if (!readsFacets(filter)) return count;
  return sql`
    select case when ${areLarge(sql, orgId, filter.facets)} then (${count})
      else (select count(*)::int from ${facetedRows(sql, orgId, filter)}) end`;
}

/** The rows of each condition that has an index, as queries of created_at and id. */
function indexedConditions(sql: Sql, orgId: OrgId, filter: ResponseFilter): Part[] {
  const common = indexed(sql, orgId, filter);
  return [
    ...filter.facets.map(
      (facet) => sql`
      select r.created_at, r.response_id as id
      from response_facets r
      where r.org_id = ${orgId} and r.facet = ${facetOf(sql, facet)} ${common}`,
    ),
    ...ownConditions(sql, orgId, filter, sql`r`).map(
      (condition) => sql`
      select r.created_at, r.id
      from responses r
      where r.org_id = ${orgId} and r.held_reason is null and ${condition} ${common}`,
    ),
  ];
}

/**
 * The rows that two queries have in common. A full join is never done by looking rows up one by one, which Postgres
 * prefers as long as it does not know how many rows a facet has.
 */
const inBoth = (sql: Sql, left: Part, right: Part): Part => sql`
  select created_at, id
  from (
    select l.created_at, l.id, r.id as other
    from (${left}) l
    full join (${right}) r on r.created_at = l.created_at and r.id = l.id
    offset 0
  ) pairs
  where id is not null and other is not null`;

function countTallied(sql: Sql, orgId: OrgId, filter: ResponseFilter) {
  const { survey_id, type, audience, category, range, facets } = filter;
  return sql`
    select coalesce(sum(${countedColumn(sql, category)}), 0)::int
    from (${tallies(sql, orgId, { survey_id, type, audience, range, facets })}) t`;
}
