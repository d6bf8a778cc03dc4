import { hideFromPlanner, type Part, type Sql } from '../lib/db/db.ts';
import type { OrgId } from '../limits.ts';
import type { Category, SurveyType } from '../survey-types.ts';
import { type Range, splitRange } from './period.ts';

export type NpsScope = {
  survey_id: string | null;
  type: SurveyType | null;
  audience: 'employee' | 'customer' | null;
  round: number | null;
  range: Range;
  facets: readonly Facet[];
};

/** A property of the response, a tag (by id), a sentiment, a theme, or an option or value of a follow-up question. */
export type Facet = {
  kind: 'property' | 'tag' | 'sentiment' | 'theme' | 'answer';
  name: string;
  value: string;
};

export type ResponseFilter = NpsScope & {
  category: Category | null;
  /** `ilike` pattern for the comment or the contact's address or name. */
  pattern: string | null;
  held: boolean;
  hasComment: boolean | null;
  language: string | null;
  state: 'open' | 'done' | null;
  /** The address of a member, or `noOwner`. */
  owner: string | null;
  /** Matches any owner. Only used to count the responses without an owner. */
  isOwned?: true;
};

export const noOwner = 'none';

export const everything: NpsScope = {
  survey_id: null,
  type: null,
  audience: null,
  round: null,
  range: { from: null, to: null },
  facets: [],
};

/**
 * A source `r` (id, created_at) of the filtered responses, with its conditions. Starts from a facet with few responses.
 * When all facets are large, another condition may have the better index. Both branches are ordered, so that Postgres
 * stops after a page.
 */
export function filteredRows(sql: Sql, orgId: OrgId, filter: ResponseFilter): Part {
  const { facets, held, pattern } = filter;
  const fromTable = sql`
    -- organization: caller
    responses r where ${matches(sql, orgId, filter)}`;
  if (facets.length === 0 || held || pattern !== null) return fromTable;

  const own = ownConditions(sql, orgId, filter, sql`o`);
  const fromFacets = sql`${facetRows(sql, orgId, facets)} r where true ${indexed(sql, orgId, filter)}`;
  if (own.length === 0) return fromFacets;
  const large = areLarge(sql, orgId, facets);
  return sql`
    (
    (
      select r.id, r.created_at
      from ${fromFacets}
        and (select true from responses o where o.org_id = ${orgId} and o.id = r.id ${andAll(sql, own)})
        and not ${large}
      order by r.created_at desc, r.id desc
    )
    union all
    (
      select r.id, r.created_at
      from ${fromTable} and ${large}
      order by r.created_at desc, r.id desc
    )
  ) r where true`;
}

/** Conditions on a row `r` of responses, except the search pattern. */
export function matches(sql: Sql, orgId: OrgId, filter: ResponseFilter): Part {
  const { held, facets } = filter;
  return sql`
    r.org_id = ${orgId} and r.held_reason is ${held ? sql`not null` : sql`null`}
    ${indexed(sql, orgId, filter)}
    ${andAll(sql, ownConditions(sql, orgId, filter, sql`r`))}
    ${held ? wouldHaveFacets(sql, facets) : hasFacets(sql, orgId, facets, sql`r.created_at, r.id`)}`;
}

const indexed = (sql: Sql, orgId: OrgId, filter: ResponseFilter) => sql`
  ${filter.survey_id ? sql`and r.survey_id = ${filter.survey_id}` : sql``}
  ${filter.type || filter.audience ? kindConditions(sql, orgId, filter) : sql``}
  ${filter.category ? sql`and r.category = ${filter.category}` : sql``}
  ${inRange(sql, sql`r.created_at`, filter.range)}`;

/** Limits the time range to the hours in which surveys of the kind have responses, so that rare kinds are found fast. */
function kindConditions(sql: Sql, orgId: OrgId, { type, audience, held }: ResponseFilter) {
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

/** Conditions on columns that facets lack. No index finds a missing owner, a missing comment or the first round. */
function ownConditions(sql: Sql, orgId: OrgId, filter: ResponseFilter, row: Part): Part[] {
  const { round, hasComment, language, state, owner, isOwned } = filter;
  const conditions: Part[] = [];
  if (round !== null) conditions.push(sql`${row}.round = ${round}`);
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

const andAll = (sql: Sql, conditions: readonly Part[]) =>
  conditions.reduce((before, condition) => sql`${before} and ${condition}`, sql``);

export const memberOf = (sql: Sql, orgId: OrgId, email: string): Part => sql`
  select m.id
  from members m
  join memberships ms on ms.org_id = ${orgId} and ms.member_id = m.id
  where m.email_key = lower(${email}::text)`;

/**
 * A query that counts the filtered responses. No index finds a missing owner or comment, so the query subtracts the
 * responses with an owner or comment from all.
 */
export function countFiltered(sql: Sql, orgId: OrgId, filter: ResponseFilter): Part {
  const { owner, hasComment, held, facets, pattern } = filter;
  const counted = (change: Partial<ResponseFilter>) =>
    countFiltered(sql, orgId, { ...filter, ...change });
  if (!held && owner === noOwner) {
    return sql`select (${counted({ owner: null })}) - (${counted({ owner: null, isOwned: true })})`;
  }
  if (!held && hasComment === false) {
    return sql`select (${counted({ hasComment: null })}) - (${counted({ hasComment: true })})`;
  }
  const own = ownConditions(sql, orgId, filter, sql`r`);
  if (held || pattern !== null || facets.length > 0 || own.length > 0) {
    const rows = sql`select count(*)::int from ${filteredRows(sql, orgId, filter)}`;
    if (held || pattern !== null || facets.length === 0 || own.length === 0) return rows;
    // For many rows a hash join is four times as fast as lookups.
    return sql`
      select case when ${areLarge(sql, orgId, facets)} then (
        with matching as materialized (
          select r.id from responses r where r.org_id = ${orgId} and r.held_reason is null ${andAll(sql, own)}
        )
        select count(*)::int
        from ${facetRows(sql, orgId, facets)} r
        join matching m on m.id = r.id
        where true ${indexed(sql, orgId, filter)}
      ) else (${rows}) end`;
  }
  return sql`
    select coalesce(sum(${categoryColumn(sql, filter.category)}), 0)::int
    from (${tallies(sql, orgId, filter)}) t`;
}

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
    ${inRange(sql, sql`created_at`, scope.range)}
    ${surveyConditions(sql, orgId, scope)} ${scope.round === null ? sql`` : sql`and r.round = ${scope.round}`}`;

/** Rows that sum up to the totals: stored tallies for whole hours, counts for partial hours. With facets or a round, all rows are counted. */
function tallies(sql: Sql, orgId: OrgId, scope: NpsScope) {
  if (!isTallied(scope)) return countRows(sql, orgId, scope);
  const { hours, edges } = splitRange(scope.range);
  const parts = edges.map((edge) => countRows(sql, orgId, { ...scope, range: edge }));
  if (hours) parts.push(storedTallies(sql, orgId, { ...scope, range: hours }));
  return parts.reduce((before, part) => sql`${before} union all ${part}`);
}

export const isTallied = ({ facets, round }: NpsScope) => facets.length === 0 && round === null;

function storedTallies(sql: Sql, orgId: OrgId, scope: NpsScope) {
  const { from, to } = scope.range;
  return sql`
    select promoters, passives, detractors
    from ${from || to ? sql`hour_tallies` : sql`survey_tallies`}
    where org_id = ${orgId} ${surveyConditions(sql, orgId, scope)} ${inRange(sql, sql`hour`, scope.range)}`;
}

const countRows = (sql: Sql, orgId: OrgId, scope: NpsScope) => sql`
  select count(*) filter (where category = 'promoter')  as promoters,
         count(*) filter (where category = 'passive')   as passives,
         count(*) filter (where category = 'detractor') as detractors
  from ${countedRows(sql, orgId, scope)} ${inRange(sql, sql`created_at`, scope.range)}`;

export const inRange = (sql: Sql, time: Part, { from, to }: Range): Part => sql`
  ${from ? sql`and ${time} >= ${hideFromPlanner(sql, sql`${from}::timestamptz`)}` : sql``}
  ${to ? sql`and ${time} < ${hideFromPlanner(sql, sql`${to}::timestamptz`)}` : sql``}`;

export const countedRows = (sql: Sql, orgId: OrgId, scope: NpsScope): Part =>
  scope.facets.length > 0
    ? sql`${facetRows(sql, orgId, scope.facets)} r where true ${surveyConditions(sql, orgId, scope)}
        ${scope.round === null ? sql`` : sql`and (select o.round from responses o where o.org_id = ${orgId} and o.id = r.id) = ${scope.round}`}`
    : sql`responses r where org_id = ${orgId} and held_reason is null ${surveyConditions(sql, orgId, scope)}
        ${scope.round === null ? sql`` : sql`and round = ${scope.round}`}`;

function categoryColumn(sql: Sql, category: Category | null) {
  if (category === 'promoter') return sql`promoters`;
  if (category === 'passive') return sql`passives`;
  if (category === 'detractor') return sql`detractors`;
  return sql`promoters + passives + detractors`;
}

export function surveyConditions(sql: Sql, orgId: OrgId, { survey_id, type, audience }: NpsScope) {
  const one = survey_id ? sql`and survey_id = ${survey_id}` : sql``;
  if (!type && !audience) return one;
  return sql`${one} and survey_id in (${surveysOfKind(sql, orgId, { type, audience })})`;
}

/**
 * `surveyConditions` for many short time ranges. Its form keeps Postgres from looking up each range per survey: the
 * condition on `score`, which is never negative, rules out indexes that begin with the survey.
 */
export const kindConditionsByTime = (sql: Sql, orgId: OrgId, { type, audience }: NpsScope) =>
  type || audience
    ? sql`and score >= 0 and (survey_id in (${surveysOfKind(sql, orgId, { type, audience })})) is true`
    : sql``;

type SurveyKind = Pick<NpsScope, 'type' | 'audience'>;

const surveysOfKind = (sql: Sql, orgId: OrgId, { type, audience }: SurveyKind): Part => sql`
  select id
  from surveys
  where org_id = ${orgId}
    ${type ? sql`and type = ${type}` : sql``}
    ${audience ? sql`and (audience = 'employee') is ${audience === 'employee' ? sql`true` : sql`not true`}` : sql``}`;

/**
 * Responses that have all of the facets and are not on hold. Reads the rows of the rarest facet and looks up the
 * others.
 */
const facetRows = (sql: Sql, orgId: OrgId, facets: readonly Facet[]): Part => sql`(
  select f.response_id as id, f.org_id, f.created_at, f.survey_id, f.category, f.score
  from response_facets f
  where f.org_id = ${orgId} and f.facet = ${facets.length > 1 ? rarest(sql, orgId, facets) : facetOf(sql, facets[0]!)}
    ${facets.length > 1 ? hasFacets(sql, orgId, facets, sql`f.created_at, f.response_id`) : sql``}
)`;

const minLargeFacet = 20_000;
const maxCompared = 100_000;

const rarest = (sql: Sql, orgId: OrgId, facets: readonly Facet[]) => sql`(
  select facet
  from unnest(array[${facets.map((facet) => facetOf(sql, facet)).reduce((before, facet) => sql`${before}, ${facet}`)}]) facet
  order by (${countUpTo(sql, orgId, sql`facet.facet`, maxCompared)})
  limit 1
)`;

function areLarge(sql: Sql, orgId: OrgId, facets: readonly Facet[]) {
  const facet = facets.length > 1 ? rarest(sql, orgId, facets) : facetOf(sql, facets[0]!);
  return sql`((${countUpTo(sql, orgId, facet, minLargeFacet)}) = ${minLargeFacet})`;
}

const countUpTo = (sql: Sql, orgId: OrgId, facet: Part, limit: number) => sql`
  select count(*)
  from (select from response_facets c where c.org_id = ${orgId} and c.facet = ${facet} limit ${limit}) counted`;

export const hasFacets = (sql: Sql, orgId: OrgId, facets: readonly Facet[], row: Part): Part =>
  andAll(
    sql,
    facets.map(
      (facet) => sql`(
      select true
      from response_facets x
      where x.org_id = ${orgId} and x.facet = ${facetOf(sql, facet)} and (x.created_at, x.response_id) = (${row})
    )`,
    ),
  );

/** Conditions on responses `r` on hold, which have no stored facets yet. */
export const wouldHaveFacets = (sql: Sql, facets: readonly Facet[]): Part =>
  andAll(
    sql,
    facets.map((facet) => wouldHave(sql, facet)),
  );

function wouldHave(sql: Sql, facet: Facet): Part {
  if (facet.kind === 'sentiment' || facet.kind === 'theme') return sql`false`;
  if (facet.kind === 'tag') {
    return sql`exists (
      select from response_tags t
      where t.org_id = r.org_id and t.response_id = r.id and t.tag_id = ${facet.value}::uuid)`;
  }
  if (facet.kind === 'answer') {
    return sql`${facetOf(sql, facet)} in (
      select answer_facets(a.answers)
      from response_answers a
      where a.org_id = r.org_id and a.response_id = r.id)`;
  }
  return sql`${facetOf(sql, facet)} in (select property_facets(r.properties))`;
}

const facetOf = (sql: Sql, { kind, name, value }: Facet) =>
  sql`facet_of(${kind}::text, ${name}::text, ${value}::text)`;
