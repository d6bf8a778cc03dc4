import { type KnownPeople, knownPeople } from '../contacts/known.cte.ts';
import { one, type Sql } from '../lib/db/db.ts';
import type { Page } from '../lib/paging/page.ts';
import { newest, oneJson, pagedJson } from '../lib/paging/paged-json.ts';
import type { OrgId } from '../org-id.ts';
import type { Category, Tally } from '../scores.ts';
import type { SummaryPeriod } from './period.queries.ts';

export type Volume = Tally & { responses: number };

/** How a period's answers fall into categories. */
export async function countPeriod(sql: Sql, orgId: string, { start, end }: SummaryPeriod) {
  return one(
    await sql<Volume[]>`
      select count(*)::int                                        as responses,
             count(*) filter (where category = 'promoter')::int  as promoters,
             count(*) filter (where category = 'passive')::int   as passives,
             count(*) filter (where category = 'detractor')::int as detractors
      from responses
      where org_id = ${orgId} and held_reason is null
        and created_at >= ${start} and created_at < ${end}`,
  );
}

export type ThemeCount = { theme: string; mentions: number; before: number; detractors: number };

/** The themes that a period speaks of most, and how often the period before did. */
export async function countThemes(
  sql: Sql,
  orgId: string,
  now: SummaryPeriod,
  before: SummaryPeriod,
) {
  return await sql<ThemeCount[]>`
    select theme,
           count(*) filter (where r.created_at >= ${now.start})::int as mentions,
           count(*) filter (where r.created_at < ${now.start})::int  as before,
           count(*) filter (where r.created_at >= ${now.start} and r.category = 'detractor')::int as detractors
    from analyses a
    join responses r on r.org_id = a.org_id and r.id = a.response_id
    cross join lateral unnest(a.themes) as theme
    where a.org_id = ${orgId} and r.held_reason is null
      and r.created_at >= ${before.start} and r.created_at < ${now.end}
    group by theme
    having count(*) filter (where r.created_at >= ${now.start}) > 0
    order by mentions desc, theme
    limit 5`;
}

export type Quote = KnownPeople & { comment: string; category: Category };

/** The newest comments of each category, with the people who must not be recognizable in them. */
export async function listQuotes(
  sql: Sql,
  orgId: string,
  { start, end }: SummaryPeriod,
  each: number,
) {
  return await sql<Quote[]>`
    select comment, category, known_names, known_addresses
    from (
      select r.comment, r.category, r.created_at,
             ${knownPeople(sql, 'contact')},
             row_number() over (partition by r.category order by r.created_at desc) as place
      from responses r
      join surveys s on s.org_id = r.org_id and s.id = r.survey_id
      join organizations o on o.id = r.org_id
      left join contacts c on c.org_id = r.org_id and c.survey_id = r.survey_id and c.id = r.contact_id
      where r.org_id = ${orgId} and r.held_reason is null and char_length(r.comment) >= 20
        and r.created_at >= ${start} and r.created_at < ${end}
    ) newest
    where place <= ${each}
    order by category, created_at desc`;
}

export type SummaryRow = {
  id: string;
  report_type: string;
  period_start: Date;
  period_end: Date;
  nps: number | null;
  previous_nps: number | null;
  responses: number;
  top_themes: string[];
  text: string;
  created_at: Date;
};

const columns = (sql: Sql) => sql`
  id, report_type, period_start, period_end, nps, previous_nps, responses, top_themes, text, created_at`;

type NewSummary = Omit<SummaryRow, 'created_at'> & { scheduled: boolean };

/** Stores a summary. A period has one scheduled summary: a second insert returns nothing. */
export async function insertSummary(sql: Sql, orgId: string, summary: NewSummary) {
  const [row] = await sql<SummaryRow[]>`
    insert into summaries (id, org_id, report_type, scheduled, period_start, period_end, nps, previous_nps,
                           responses, top_themes, text)
    values (${summary.id}, ${orgId}, ${summary.report_type}, ${summary.scheduled}, ${summary.period_start},
            ${summary.period_end}, ${summary.nps}, ${summary.previous_nps}, ${summary.responses},
            ${summary.top_themes}, ${summary.text})
    on conflict do nothing
    returning ${columns(sql)}`;
  return row;
}

export type SummaryBefore = Pick<
  SummaryRow,
  'id' | 'period_start' | 'period_end' | 'nps' | 'responses' | 'top_themes'
>;

/** The summary of the newest period that ended before this one did, and began before it. */
export async function findSummaryBefore(
  sql: Sql,
  orgId: string,
  { period_start, period_end }: SummaryPeriodOf,
): Promise<SummaryBefore | undefined> {
  const [row] = await sql<SummaryBefore[]>`
    select id, period_start, period_end, nps, responses, top_themes
    from summaries
    where org_id = ${orgId} and period_start < ${period_start} and period_end < ${period_end}
    order by period_end desc, created_at desc
    limit 1`;
  return row;
}

type SummaryPeriodOf = { period_start: Date | string; period_end: Date | string };

/** A page of the organization's summaries, newest first. */
export const listSummaries = (sql: Sql, orgId: OrgId, page: Page) =>
  pagedJson(sql, {
    picked: newest(sql, { rows: sql`summaries where org_id = ${orgId}` }, page),
    item: summaryItem(sql),
    total: sql`select count(*) from summaries where org_id = ${orgId}`,
    page,
  });

export const findSummary = (sql: Sql, orgId: OrgId, id: string) =>
  oneJson(sql, {
    row: sql`summaries where org_id = ${orgId} and id = ${id}`,
    item: summaryItem(sql),
  });

const summaryItem = (sql: Sql) => sql`
  cross join lateral (
    select p.id, p.report_type, iso(p.period_start) as period_start, iso(p.period_end) as period_end,
           p.nps, p.previous_nps, p.responses, p.top_themes, p.text, iso(p.created_at) as created_at
  ) item`;
