import type { Part, Sql } from '../lib/db/db.ts';
import type { Page } from '../lib/paging/page.ts';
import { newest, oneJson, pagedJson } from '../lib/paging/paged-json.ts';
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
import { dayOf, startOfDay } from './range.ts';
import { countedColumn, opaqueDay } from './totals.queries.ts';

/** A page of the organization's responses, newest first. */
export const listResponses = (
  sql: Sql,
  orgId: OrgId,
  { filter, page }: { filter: ResponseFilter; page: Page },
) =>
  pagedJson(sql, {
    picked: pick(sql, orgId, filter, page),
    item: sql`${rowOf(sql, orgId, filter)} ${itemJoins(sql)}`,
    json: itemText(sql, {
      survey: surveyText(sql, orgId, filter.survey_id),
      tags: tagsOf(sql, orgId),
    }),
    total: countAll(sql, orgId, filter),
    page,
  });

/** Joins a picked row with its response; a source that is `responses` itself has it already. */
export const rowOf = (sql: Sql, orgId: OrgId, filter: ResponseFilter) =>
  filter.pattern === null && !readsSets(filter)
    ? sql`cross join lateral (select p.*) r`
    : sql`join responses r on r.org_id = ${orgId} and r.id = p.id`;

export const findResponse = (sql: Sql, orgId: OrgId, id: string) =>
  oneJson(sql, {
    row: sql`responses where org_id = ${orgId} and id = ${id}`,
    item: sql`
      cross join lateral (select p.*) r ${itemJoins(sql)} ${surveyJoin(sql, orgId)}
      cross join lateral (
        select ${itemColumns(sql, tagsOf(sql, orgId))}, iso(r.created_at) as created_at, ${notes(sql)} as notes
      ) item`,
  });

/** From a response `r`, its contact `c`, analysis `a` and survey `s`, in the order of the API. */
const itemColumns = (sql: Sql, tags: Part) => sql`
  r.id, r.survey_id, r.score, r.category, r.comment,
  a.sentiment as ai_sentiment, coalesce(a.themes, '{}') as ai_themes,
  a.churn_risk as ai_churn_risk, a.summary as ai_summary, r.held_reason is not null as held,
  c.email as contact_email, c.name as contact_name, s.survey_name, s.survey_type,
  r.language, coalesce(c.properties, r.properties, '{}') as properties, ${tags} as tags, r.state,
  ${ownerOf(sql)} as owner`;

type ItemParts = {
  /** The name and the type of its survey, as members of an object that begin with a comma. */
  survey: Part;
  tags: Part;
};

/** The same columns as JSON, at half of what `row_to_json` takes: that looks up the type of each column for each row. */
export const itemText = (sql: Sql, { survey, tags }: ItemParts) => {
  const text = (value: Part) => sql`coalesce(to_json(${value}), 'null')`;
  return sql`concat(
    '{"id":"', r.id, '","survey_id":"', r.survey_id, '","score":', r.score, ',"category":"', r.category,
    '","comment":', ${text(sql`r.comment`)},
    ',"ai_sentiment":', ${text(sql`a.sentiment`)}, ',"ai_themes":', coalesce(to_json(a.themes), '[]'),
    ',"ai_churn_risk":', ${text(sql`a.churn_risk`)}, ',"ai_summary":', ${text(sql`a.summary`)},
    ',"held":', case when r.held_reason is null then 'false' else 'true' end,
    ',"contact_email":', ${text(sql`c.email`)}, ',"contact_name":', ${text(sql`c.name`)},
    ${survey}, ',"language":', ${text(sql`r.language`)},
    ',"properties":', coalesce(c.properties, r.properties, '{}'), ',"tags":', ${tags},
    ',"state":', ${text(sql`r.state`)}, ',"owner":', ${text(ownerOf(sql))},
    ',"created_at":"', iso(r.created_at), '"}')`;
};

export const surveyMembers = (sql: Sql) =>
  sql`concat(',"survey_name":', to_json(name), ',"survey_type":"', type, '"')`;

/** One survey is looked up once, others for each row. */
const surveyText = (sql: Sql, orgId: OrgId, surveyId: string | null) => sql`(
  select ${surveyMembers(sql)}
  from surveys
  where org_id = ${orgId} and id = ${surveyId === null ? sql`r.survey_id` : sql`${surveyId}`}
)`;

const ownerOf = (sql: Sql) =>
  sql`case when r.owner_id is not null then (select email from members where id = r.owner_id) end`;

/** Most organizations tag none, and most responses have no tag: to look is cheaper than to sort nothing. */
const tagsOf = (sql: Sql, orgId: OrgId) => sql`
  case when (select exists (select from response_tags where org_id = ${orgId}))
    and exists (select from response_tags rt where rt.org_id = r.org_id and rt.response_id = r.id) then (
    select json_agg(json_build_object('id', t.id, 'name', t.name, 'color', t.color)
                    order by lower(t.name) collate "C", t.name collate "C")
    from response_tags rt
    join tags t on t.org_id = rt.org_id and t.id = rt.tag_id
    where rt.org_id = r.org_id and rt.response_id = r.id
  ) else '[]' end`;

const notes = (sql: Sql) => sql`(
  select coalesce(json_agg(json_build_object('id', n.id, 'text', n.text, 'author', n.author,
                                             'created_at', iso(n.created_at)) order by n.created_at, n.id), '[]')
  from response_notes n
  where n.org_id = r.org_id and n.response_id = r.id
)`;

/** Only what has a comment has an analysis: to look for one of each response takes a third of the time of an export. */
export const itemJoins = (sql: Sql) => sql`
  left join contacts c
    on c.org_id = r.org_id and c.id = r.contact_id
  left join analyses a
    on a.org_id = r.org_id and a.response_id = case when r.comment is not null then r.id end`;

const surveyJoin = (sql: Sql, orgId: OrgId) => sql`
  left join lateral (
    select name as survey_name, type as survey_type
    from surveys
    where org_id = ${orgId} and id = r.survey_id
  ) s on true`;

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
