import type { Part, Sql } from '../lib/db/db.ts';
import { keptFor } from '../lib/db/kept-part.ts';
import type { Page } from '../lib/paging/page.ts';
import { newest, pagedJson } from '../lib/paging/paged-json.ts';
import type { OrgId } from '../org-id.ts';
import { countFound, foundRows } from './facet-sets.cte.ts';
import {
  countFiltered,
  filteredRows,
  isTallied,
  matches,
  type ResponseFilter,
} from './filter.cte.ts';
import { readsSets, setRows } from './filter-sets.cte.ts';
import { itemJoins, itemText, namedJoin, surveyText, tagsOf } from './item.cte.ts';
import { dayOf, startOfDay } from './range.ts';
import { countedColumn, opaqueDay } from './totals.queries.ts';

/** A page of the organization's responses, newest first. */
export const listResponses = (
  sql: Sql,
  orgId: OrgId,
  { filter, page }: { filter: ResponseFilter; page: Page },
) => {
  const { survey, join } = surveyText(sql, orgId, filter.survey_id);
  return pagedJson(sql, {
    picked: pick(sql, orgId, filter, page),
    item: sql`${rowOf(sql, orgId, filter)} ${itemJoins(sql)} ${join}`,
    json: itemText(sql, { survey, tags: tagsOf(sql, orgId) }),
    total: countAll(sql, orgId, filter),
    page,
  });
};

/** Joins a picked row with its response; a source that is `responses` itself has it already. */
export const rowOf = (sql: Sql, orgId: OrgId, filter: ResponseFilter) =>
  filter.pattern === null && !readsSets(filter)
    ? sql`cross join lateral (select p.*) r`
    : sql`join responses r on r.org_id = ${orgId} and r.id = p.id`;

export const findResponse = (sql: Sql, orgId: OrgId, id: string): Part => {
  const { item, joins } = wholeItem(sql, orgId);
  return sql`(
    select '{"data":' || ${item} || '}'
    from responses r ${joins}
    where r.org_id = ${orgId} and r.id = ${id}
  )`;
};

const wholeItem = keptFor((sql, orgId: OrgId) => ({
  item: itemText(sql, { survey: sql`named.members`, tags: tagsOf(sql, orgId), notes: notes(sql) }),
  joins: sql`${itemJoins(sql)} ${namedJoin(sql, orgId)}`,
}));

const notes = (sql: Sql) => sql`(
  select coalesce(json_agg(json_build_object('id', n.id, 'text', n.text, 'author', n.author,
                                             'created_at', iso(n.created_at)) order by n.created_at, n.id), '[]')
  from response_notes n
  where n.org_id = r.org_id and n.response_id = r.id
)`;

function pick(sql: Sql, orgId: OrgId, filter: ResponseFilter, page: Page) {
  if (filter.pattern !== null) {
    return sql`
      ${matched(sql, orgId, filter, filter.pattern)},
      ${newest(sql, { rows: sql`matched where true` }, page)}`;
  }
  if (readsSets(filter)) return pickFound(sql, orgId, filter, page);
  const rows = filteredRows(sql, orgId, filter);
  const perDay =
    isTallied(filter) && !filter.type && !filter.audience
      ? countPerDay(sql, orgId, filter)
      : undefined;
  return newest(sql, { rows, perDay }, page);
}

function pickFound(sql: Sql, orgId: OrgId, filter: ResponseFilter, page: Page) {
  const { limit, cursor: after } = page;
  const offset = after ? 0 : (page.page - 1) * limit;
  const sets = setRows(sql, orgId, filter);
  return sql`
    ${foundRows(sql, orgId, { ...sets, page: { limit, offset, after }, counts: true })},
    ${newest(sql, { rows: sql`found where true`, skipped: sql`(select n from skipped)` }, page)}`;
}

/** Every answer that a search finds. Each half has a trigram index of its own. */
export const matched = (sql: Sql, orgId: OrgId, filter: ResponseFilter, pattern: string) => sql`
  matched as materialized (
    select r.id, r.created_at
    from responses r
    where ${matches(sql, orgId, filter)} and r.comment ilike ${pattern}
    union
    select r.id, r.created_at
    from contacts c
    join responses r on r.contact_id = c.id
    where c.org_id = ${orgId} and c.email || ' ' || coalesce(c.name, '') ilike ${pattern}
      and (c.email ilike ${pattern} or c.name ilike ${pattern})
      and ${matches(sql, orgId, filter)}
  )`;

/** From the kept tallies; only the day in which the range ends is counted from its rows. */
function countPerDay(sql: Sql, orgId: OrgId, filter: ResponseFilter) {
  const { survey_id, category, range } = filter;
  const lastDay = range.to && startOfDay(range.to);
  const partOfDay = lastDay && range.to && lastDay < range.to;
  return sql`
    select day, ${countedColumn(sql, category)}
    from ${survey_id ? sql`day_tallies` : sql`organization_day_tallies`}
    where org_id = ${orgId}
      ${survey_id ? sql`and survey_id = ${survey_id}` : sql``}
      ${range.from ? sql`and day >= ${opaqueDay(sql, range.from)}` : sql``}
      ${lastDay ? sql`and day < ${opaqueDay(sql, lastDay)}` : sql``}
    ${partOfDay ? newestDay(sql, orgId, { ...filter, range: { from: lastDay, to: range.to } }) : sql``}`;
}

const newestDay = (sql: Sql, orgId: OrgId, filter: ResponseFilter) => sql`
  union all
  select ${dayOf(filter.range.from!)}::date, count(*)::int
  from responses r
  where ${matches(sql, orgId, filter)}`;

function countAll(sql: Sql, orgId: OrgId, filter: ResponseFilter) {
  if (filter.pattern !== null) return sql`select count(*)::int from matched`;
  return readsSets(filter) ? countFound(sql) : countFiltered(sql, orgId, filter);
}
