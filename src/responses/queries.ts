import type { Part, Sql } from '../lib/db/db.ts';
import type { Page } from '../lib/paging/page.ts';
import { newest, pagedJson } from '../lib/paging/paged-json.ts';
import type { OrgId } from '../org-id.ts';
import {
  countFiltered,
  filteredRows,
  isTallied,
  matches,
  type ResponseFilter,
} from './filter.cte.ts';
import { itemJoins, itemText, namedJoin, surveyText, tagsOf } from './item.cte.ts';
import { startOfHour } from './range.ts';
import { countedColumn, within } from './totals.queries.ts';

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
  isTallied(filter)
    ? sql`cross join lateral (select p.*) r`
    : sql`join responses r on r.org_id = ${orgId} and r.id = p.id`;

export const findResponse = (sql: Sql, orgId: OrgId, id: string): Part => {
  const tags = tagsOf(sql, orgId);
  const item = itemText(sql, { survey: sql`named.members`, tags, notes: notes(sql) });
  return sql`(
    select '{"data":' || ${item} || '}'
    from responses r ${itemJoins(sql)} ${namedJoin(sql, orgId)}
    where r.org_id = ${orgId} and r.id = ${id}
  )`;
};

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
  const rows = filteredRows(sql, orgId, filter);
  // An index passes over the rows before a far page: only those of the page are looked up.
  if (!isTallied(filter)) return newest(sql, { rows, columns: sql`r.created_at, r.id` }, page);
  const perHour = !filter.type && !filter.audience ? countPerHour(sql, orgId, filter) : undefined;
  return newest(sql, { rows, perHour }, page);
}

/** Every answer that a search finds. Each half has a trigram index of its own. */
export const matched = (sql: Sql, orgId: OrgId, filter: ResponseFilter, pattern: string) => sql`
  -- organization: caller
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

/** From the kept tallies; only the hour in which the range ends is counted from its rows. */
function countPerHour(sql: Sql, orgId: OrgId, filter: ResponseFilter) {
  const { survey_id, category, range } = filter;
  const lastHour = range.to && startOfHour(range.to);
  return sql`
    select hour, ${countedColumn(sql, category)}
    from hour_tallies
    where org_id = ${orgId}
      ${survey_id ? sql`and survey_id = ${survey_id}` : sql``}
      ${within(sql, sql`hour`, { from: range.from && startOfHour(range.from), to: lastHour })}
    ${
      lastHour
        ? sql`
    -- organization: caller
    union all
    select ${lastHour}::timestamptz, count(*)::int
    from responses r
    where ${matches(sql, orgId, { ...filter, range: { from: lastHour, to: range.to } })}`
        : sql``
    }`;
}

function countAll(sql: Sql, orgId: OrgId, filter: ResponseFilter) {
  if (filter.pattern !== null) return sql`select count(*)::int from matched`;
  return countFiltered(sql, orgId, filter);
}
