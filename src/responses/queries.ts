import { one, type Sql } from '../lib/db/db.ts';
import type { Listed } from '../lib/paging/list-answer.ts';
import { following, type Page } from '../lib/paging/page.ts';
import type { Category } from '../scores.ts';
import { dayOf, type Range, startOfDay } from './range.ts';
import { countedColumn, everything, tallies } from './totals.queries.ts';

/** From this many rows on it pays to look up the day a page begins on, instead of counting rows off. */
const deepOffset = 500;

export type ResponseFilter = {
  survey_id: string | null;
  category: Category | null;
  range: Range;
  /** What the comment, the contact's address or name must be like. */
  pattern: string | null;
  held: boolean;
};

/** A page of the organization's answers, newest first. */
export async function listResponses(
  sql: Sql,
  orgId: string,
  { filter, page }: { filter: ResponseFilter; page: Page },
): Promise<Listed> {
  const { limit } = page;
  return one(
    await sql<Listed[]>`
      with ${pick(sql, orgId, filter, page)},
      shown as (
        select row_number() over (order by r.created_at desc, r.id desc) as place,
               r.id, r.created_at, row_to_json(item) as item
        from picked r
        ${itemJoins(sql, orgId)}
        cross join lateral (select ${itemColumns(sql)}, iso(r.created_at) as created_at) item
      )
      select '[' || coalesce(
               string_agg(item::text, ',' order by place) filter (where place <= ${limit}::int), ''
             ) || ']' as data,
             (${countAll(sql, orgId, filter)}) as total,
             max(iso_exact(created_at) || ' ' || id) filter (where place = ${limit}::int) as last,
             count(*) > ${limit}::int as more
      from shown`,
  );
}

export type ResponseRow = { id: string; survey_id: string; score: number; created_at: Date };

export async function findResponse(sql: Sql, orgId: string, id: string) {
  const [row] = await sql<ResponseRow[]>`
    select ${itemColumns(sql)}, r.created_at
    from responses r
    ${itemJoins(sql, orgId)}
    where r.org_id = ${orgId} and r.id = ${id}`;
  return row;
}

const itemColumns = (sql: Sql) => sql`
  r.id, r.survey_id, r.score, r.category, r.comment,
  a.sentiment as ai_sentiment, coalesce(a.themes, '{}') as ai_themes,
  a.churn_risk as ai_churn_risk, a.summary as ai_summary, r.held_reason is not null as held,
  c.email as contact_email, c.name as contact_name, s.name as survey_name`;

const itemJoins = (sql: Sql, orgId: string) => sql`
  join surveys s on s.org_id = ${orgId} and s.id = r.survey_id
  left join contacts c
    on c.org_id = r.org_id and c.survey_id = r.survey_id and c.id = r.contact_id
  left join analyses a on a.org_id = r.org_id and a.response_id = r.id`;

/** The page's rows and one more, as the CTE `picked`: by cursor, by offset, or from a day on. */
function pick(sql: Sql, orgId: string, filter: ResponseFilter, { page, limit, cursor }: Page) {
  const offset = (page - 1) * limit;
  const newestFirst = sql`order by created_at desc, id desc limit ${limit + 1}::int`;
  const after = following(sql, cursor);
  if (filter.pattern !== null) {
    return sql`
      ${matched(sql, orgId, filter, filter.pattern)},
      place as (
        select id from matched where true ${after}
        ${newestFirst} offset ${cursor ? 0 : offset}::bigint
      ), picked as (
        select r.* from place join responses r on r.org_id = ${orgId} and r.id = place.id
      )`;
  }
  if (cursor || filter.held || offset < deepOffset) {
    return sql`picked as (
      select *
      from (
        select * from responses r where ${chosen(sql, orgId, filter)} ${after}
        ${longestPage(sql)} ${cursor || offset === 0 ? sql`` : sql`offset ${offset}::bigint`}
      ) longest
      ${newestFirst}
    )`;
  }
  return sql`
    ${firstDay(sql, orgId, filter, offset)},
    picked as (
      select * from responses r
      where ${chosen(sql, orgId, filter)}
        and created_at < (select (day + 1)::timestamp at time zone 'UTC' from first_day)
      ${newestFirst} offset (select skipped from first_day)
    )`;
}

/**
 * The longest page there is, which the asked one is cut from. A limit in the text lets Postgres plan once
 * for all pages; with one that only the parameters know it plans each anew, which costs more than reading it.
 */
const longestPage = (sql: Sql) => sql`order by created_at desc, id desc limit 201`;

const chosen = (
  sql: Sql,
  orgId: string,
  { survey_id, category, range, held }: ResponseFilter,
) => sql`
  r.org_id = ${orgId} and r.held_reason is ${held ? sql`not null` : sql`null`}
  ${survey_id ? sql`and r.survey_id = ${survey_id}` : sql``}
  ${category ? sql`and r.category = ${category}` : sql``}
  ${range.from ? sql`and r.created_at >= ${range.from}` : sql``}
  ${range.to ? sql`and r.created_at < ${range.to}` : sql``}`;

/** Every answer that a search finds. Each half has a trigram index of its own. */
const matched = (sql: Sql, orgId: string, filter: ResponseFilter, pattern: string) => sql`
  matched as materialized (
    select r.id, r.created_at
    from responses r
    where ${chosen(sql, orgId, filter)} and r.comment ilike ${pattern}
    union
    select r.id, r.created_at
    from contacts c
    join responses r on r.contact_id = c.id
    where c.org_id = ${orgId} and c.email || ' ' || coalesce(c.name, '') ilike ${pattern}
      and (c.email ilike ${pattern} or c.name ilike ${pattern})
      and ${chosen(sql, orgId, filter)}
  )`;

/**
 * The day on which the row at an offset was given, and how many newer rows of that day precede it.
 * The kept tallies lead there; only the day in which the range ends is counted from its rows.
 */
function firstDay(sql: Sql, orgId: string, filter: ResponseFilter, offset: number) {
  const { survey_id, category, range } = filter;
  const lastDay = range.to && startOfDay(range.to);
  const partOfDay = lastDay && range.to && lastDay < range.to;
  return sql`
    per_day as (
      select day, sum(${countedColumn(sql, category)})::int as answers
      from ${survey_id ? sql`day_tallies` : sql`organization_day_tallies`}
      where org_id = ${orgId}
        ${survey_id ? sql`and survey_id = ${survey_id}` : sql``}
        ${range.from ? sql`and day >= ${dayOf(range.from)}::date` : sql``}
        ${lastDay ? sql`and day < ${dayOf(lastDay)}::date` : sql``}
      group by day
      ${partOfDay ? newestDay(sql, orgId, { ...filter, range: { from: lastDay, to: range.to } }) : sql``}
    ), days as (
      select day, answers, sum(answers) over (order by day desc) - answers as newer from per_day
    ), first_day as materialized (
      select day, ${offset}::bigint - newer as skipped
      from days
      where newer <= ${offset}::bigint and ${offset}::bigint < newer + answers
    )`;
}

const newestDay = (sql: Sql, orgId: string, filter: ResponseFilter) => sql`
  union all
  select ${dayOf(filter.range.from!)}::date, count(*)::int
  from responses r
  where ${chosen(sql, orgId, filter)}`;

function countAll(sql: Sql, orgId: string, filter: ResponseFilter) {
  if (filter.pattern !== null) return sql`select count(*)::int from matched`;
  if (filter.held) {
    return sql`select count(*)::int from responses r where ${chosen(sql, orgId, filter)}`;
  }
  const { survey_id, category, range } = filter;
  return sql`
    select coalesce(sum(${countedColumn(sql, category)}), 0)::int
    from (${tallies(sql, orgId, { ...everything, survey_id, range })}) t`;
}
