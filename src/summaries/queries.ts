import { type KnownPeople, knownPeople } from '../contacts/known.cte.ts';
import { one, type Sql } from '../lib/db/db.ts';
import { type AnalysisTarget, deleteWaiting } from '../responses/waiting-analyses.cte.ts';
import type { Category, SurveyType } from '../scores.ts';
import type { Analysis } from './rules.ts';
import type { CommentTheme } from './themes.ts';

export type Unanalyzed = KnownPeople & {
  comment: string;
  score: number;
  category: Category;
  type: SurveyType;
  language: string;
};

/** An answer whose comment is still to be analyzed, for an organization that wants it. */
export async function findUnanalyzed(sql: Sql, { orgId, responseId, askedAt }: AnalysisTarget) {
  const [row] = await sql<Unanalyzed[]>`
    select r.comment, r.score, r.category, s.type, s.language,
           ${knownPeople(sql, 'contact')}
    from responses r
    join surveys s on s.org_id = r.org_id and s.id = r.survey_id
    join organizations o on o.id = r.org_id
    left join contacts c on c.org_id = r.org_id and c.survey_id = r.survey_id and c.id = r.contact_id
    where r.org_id = ${orgId} and r.id = ${responseId}
      and r.comment is not null and r.held_reason is null and o.ai_enabled
      and not exists (
        select from analyses
        where org_id = r.org_id and response_id = r.id
          and analyzed_at > coalesce(${askedAt}::text::timestamptz, '-infinity')
      )`;
  return row;
}

/**
 * Keeps an analysis, unless there is one already that is new enough, of two the first, or the comment is gone. It waits
 * no longer. The response is locked first: its deletion would wait for what waits, and that for it.
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
      from responses
      where org_id = ${orgId} and id = ${responseId} and comment is not null
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

/** Of the answers with a comment in a time: how many have no analysis, or none since it was asked for. */
export async function countUnanalyzed(
  sql: Sql,
  orgId: string,
  { start, end, askedAt }: { start: Date; end: Date | null; askedAt: string | null },
): Promise<number> {
  return one(
    await sql<{ left: number }[]>`
      select count(*)::int as left
      from responses r
      where org_id = ${orgId} and comment is not null and held_reason is null
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

export async function countThemesOf(sql: Sql, orgId: string): Promise<number> {
  return one(
    await sql<{ themes: number }[]>`
      select count(*)::int as themes from themes where org_id = ${orgId}`,
  ).themes;
}

/** Adds a theme, or gives the one of that name other words. */
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
  const gone = await sql`
    delete from themes where org_id = ${orgId} and lower(name) = lower(${name})`;
  return gone.count > 0;
}
