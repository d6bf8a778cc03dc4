import { type PeopleToRedact, peopleToRedact } from '../contacts/queries.ts';
import type { Interval } from '../intervals.ts';
import { json, one, type Part, type Sql } from '../lib/db/db.ts';
import { itemJson, type Page, pagedJson } from '../lib/paging/page.ts';
import type { OrgId } from '../limits.ts';
import { wordsOf } from '../questions/erase.ts';
import { type AnalysisTarget, deleteWaiting } from '../responses/waiting-analyses.ts';
import type { Category, SurveyType } from '../survey-types.ts';
import type { ScoreBlock } from './blocks.ts';
import type { Analysis, SummaryPeriod } from './rules.ts';
import type { CommentTheme } from './themes.ts';

type Unanalyzed = PeopleToRedact & {
  comment: string;
  score: number;
  category: Category;
  type: SurveyType;
  language: string;
};

export async function findUnanalyzed(sql: Sql, { orgId, responseId, askedAt }: AnalysisTarget) {
  const [row] = await sql<Unanalyzed[]>`
    select concat_ws(E'\\n\\n', r.comment, a.words) as comment, r.score, r.category, s.type, s.language,
           ${peopleToRedact(sql, 'contact')}
    from responses r
    join surveys s on s.org_id = r.org_id and s.id = r.survey_id
    join organizations o on o.id = r.org_id
    left join contacts c on c.org_id = r.org_id and c.survey_id = r.survey_id and c.id = r.contact_id
    left join response_answers a on a.org_id = r.org_id and a.response_id = r.id
    where r.org_id = ${orgId} and r.id = ${responseId}
      and coalesce(r.comment, a.words) is not null and r.held_reason is null and o.ai_enabled
      and not exists (
        select from analyses
        where org_id = r.org_id and response_id = r.id
          and analyzed_at > coalesce(${askedAt}::text::timestamptz, '-infinity')
      )`;
  return row;
}

/**
 * Does nothing if the comment is gone or has a newer analysis. Locks the response first to avoid a deadlock with its
 * deletion.
 */
export async function saveAnalysis(
  sql: Sql,
  target: AnalysisTarget,
  { sentiment, themes, churn_risk, summary, provider }: Analysis & { provider: string },
) {
  const { orgId, responseId, askedAt } = target;
  await sql`
    with answer as materialized (
      select org_id, id
      from responses r
      where org_id = ${orgId} and id = ${responseId} and coalesce(comment, ${wordsOf(sql)}) is not null
      for key share
    ), done as (
      ${deleteWaiting(sql, target)} and exists (select from answer)
    )
    insert into analyses (org_id, response_id, sentiment, themes, churn_risk, summary, provider)
    select org_id, id, ${sentiment}, ${themes}, ${churn_risk}, ${summary}, ${provider}
    from answer
    on conflict (org_id, response_id) do update
      set sentiment = excluded.sentiment, themes = excluded.themes, churn_risk = excluded.churn_risk,
          summary = excluded.summary, provider = excluded.provider, analyzed_at = excluded.analyzed_at
      where analyses.analyzed_at <= ${askedAt}::text::timestamptz`;
}

export async function countUnanalyzed(
  sql: Sql,
  orgId: string,
  { start, end, askedAt }: { start: Date; end: Date | null; askedAt: string | null },
): Promise<number> {
  return one(
    await sql<{ left: number }[]>`
      select count(*)::int as left
      from responses r
      where org_id = ${orgId} and coalesce(comment, ${wordsOf(sql)}) is not null and held_reason is null
        and created_at >= ${start} and created_at < coalesce(${end}::timestamptz, 'infinity')
        and not exists (
          select from analyses
          where org_id = r.org_id and response_id = r.id
            and analyzed_at > coalesce(${askedAt}::text::timestamptz, '-infinity')
        )`,
  ).left;
}

export async function listThemes(sql: Sql, orgId: string) {
  return await sql<(CommentTheme & { id: string })[]>`
    select id, name, words from themes where org_id = ${orgId} order by lower(name)`;
}

export async function saveTheme(sql: Sql, orgId: string, { name, words }: CommentTheme) {
  return one(
    await sql<(CommentTheme & { id: string })[]>`
      insert into themes (org_id, name, words)
      values (${orgId}, ${name}, ${[...words]})
      on conflict (org_id, lower(name)) do update set name = excluded.name, words = excluded.words
      returning id, name, words`,
  );
}

export async function deleteTheme(sql: Sql, orgId: string, name: string): Promise<boolean> {
  const { count } = await sql`
    delete from themes where org_id = ${orgId} and lower(name) = lower(${name})`;
  return count > 0;
}

export async function hasResponses(sql: Sql, orgId: string, { start, end }: SummaryPeriod) {
  return one(
    await sql<{ exists: boolean }[]>`
      select exists (
        select from responses
        where org_id = ${orgId} and held_reason is null and created_at >= ${start} and created_at < ${end}
      ) as exists`,
  ).exists;
}

export type ThemeCount = { theme: string; mentions: number; before: number; detractors: number };

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

type Quote = PeopleToRedact & { comment: string; category: Category; language: string };

/** `known_names` and `known_addresses` must be redacted. */
export async function listQuotes(
  sql: Sql,
  orgId: string,
  { start, end }: SummaryPeriod,
  each: number,
) {
  return await sql<Quote[]>`
    select comment, category, language, known_names, known_addresses
    from (
      select r.comment, r.category, r.created_at, coalesce(r.language, s.language) as language,
             ${peopleToRedact(sql, 'contact')},
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
  interval: Interval | null;
  previous_nps: number | null;
  blocks: ScoreBlock[];
  responses: number;
  top_themes: string[];
  text: string;
  created_at: Date;
};

const columns = (sql: Sql) => sql`
  id, report_type, period_start, period_end, nps, ${npsInterval(sql)} as interval, previous_nps, blocks, responses,
  top_themes, text, created_at`;

const npsInterval = (sql: Sql) => sql`
  (select block -> 'interval' from jsonb_array_elements(blocks) block
   where block ->> 'type' = 'nps' and block ->> 'audience' = 'customer')`;

type NewSummary = Omit<SummaryRow, 'created_at' | 'interval'> & { scheduled: boolean };

/** Returns undefined for a second scheduled summary of the same period. */
export async function insertSummary(sql: Sql, orgId: string, summary: NewSummary) {
  const [row] = await sql<SummaryRow[]>`
    insert into summaries (id, org_id, report_type, scheduled, period_start, period_end, nps, previous_nps,
                           blocks, responses, top_themes, text)
    values (${summary.id}, ${orgId}, ${summary.report_type}, ${summary.scheduled}, ${summary.period_start},
            ${summary.period_end}, ${summary.nps}, ${summary.previous_nps}, ${json(sql, summary.blocks)}, ${summary.responses},
            ${summary.top_themes}, ${summary.text})
    on conflict do nothing
    returning ${columns(sql)}`;
  return row;
}

export const listSummaries = (sql: Sql, orgId: OrgId, page: Page) =>
  pagedJson(sql, page, {
    rows: sql`summaries where org_id = ${orgId}`,
    item: summaryItem(sql),
  });

export const findSummary = (sql: Sql, orgId: OrgId, id: string) =>
  itemJson(sql, {
    row: sql`summaries where org_id = ${orgId} and id = ${id}`,
    item: summaryItem(sql),
  });

const summaryItem = (sql: Sql) => sql`
  cross join lateral (
    select p.id, p.report_type, iso(p.period_start) as period_start, iso(p.period_end) as period_end,
           p.nps, ${npsInterval(sql)} as interval, p.previous_nps, p.blocks, p.responses, p.top_themes, p.text, iso(p.created_at) as created_at
  ) item`;

/**
 * Organizations with responses in their last calendar month and no summary of it. Tolerates a changed time zone, which
 * moves the start of the month by some hours.
 */
export async function listMonthsDue(sql: Sql, reportType: string) {
  return await sql<{ org_id: string; start: Date; end: Date }[]>`
    select o.id as org_id, m.start, m.end
    from organizations o
    cross join lateral (
      select (date_trunc('month', now() at time zone o.time_zone) - interval '1 month')
               at time zone o.time_zone as start,
             date_trunc('month', now() at time zone o.time_zone) at time zone o.time_zone as end
    ) m
    where o.ai_enabled and o.created_at < m.end
      and not exists (
        select from summaries
        where org_id = o.id and report_type = ${reportType} and scheduled
          and period_start between m.start - interval '2 days' and m.start + interval '2 days'
      )
      and exists (
        select from responses
        where org_id = o.id and held_reason is null and created_at >= m.start and created_at < m.end
      )`;
}

/** The default period starts at the end of the last summary, or 30 days ago, and ends today. */
export async function findDefaultDays(sql: Sql, orgId: string, timeZone: string) {
  return one(
    await sql<{ from: string; to: string }[]>`
      select least(since, today)::text as from, today::text as to
      from (
        select today,
               coalesce((select (max(period_end) at time zone ${timeZone})::date from summaries where org_id = ${orgId}),
                        today - 30) as since
        from (select (now() at time zone ${timeZone})::date as today) clock
      ) days`,
  );
}

export async function deleteAnalyses(sql: Sql, orgId: string, responseIds: readonly string[]) {
  const { count } = await sql`
    delete from analyses
    where org_id = ${orgId} and response_id = any (${[...responseIds]}::uuid[])`;
  return count;
}

/** Part of a statement that deletes the analyses of responses. `answers` selects their org_id and id. */
export const deleteAnalysesOf = (sql: Sql, answers: Part) => sql`
  delete from analyses a
  using (${answers}) as gone (org_id, id)
  where a.org_id = gone.org_id and a.response_id = gone.id`;

export async function lockSummariesOver(sql: Sql, orgId: string, at: Date) {
  return await sql<{ id: string; text: string }[]>`
    select id, text
    from summaries
    where org_id = ${orgId} and period_start <= ${at} and period_end > ${at}
    order by id
    for no key update`;
}

export async function replaceText(sql: Sql, orgId: string, id: string, text: string) {
  await sql`update summaries set text = ${text} where org_id = ${orgId} and id = ${id}`;
}
