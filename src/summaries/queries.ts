import { one, type Sql } from '../platform/db.ts';
import type { Category, SurveyType } from '../scores.ts';
import type { Analysis } from './rules.ts';
import type { Theme } from './themes.ts';

export type Unanalyzed = {
  comment: string;
  score: number;
  category: Category;
  type: SurveyType;
  language: string;
  known_names: string[];
  known_addresses: string[];
};

/** An answer whose comment is still to be analyzed, for an organization that wants it. */
export async function findUnanalyzed(sql: Sql, orgId: string, responseId: string) {
  const [row] = await sql<Unanalyzed[]>`
    select r.comment, r.score, r.category, s.type, s.language,
           array_remove(o.people || array[c.name, s.from_name, o.name], null) as known_names,
           array_remove(array[c.email, s.from_email, s.reply_to, o.contact_email], null) as known_addresses
    from responses r
    join surveys s on s.org_id = r.org_id and s.id = r.survey_id
    join organizations o on o.id = r.org_id
    left join contacts c on c.org_id = r.org_id and c.survey_id = r.survey_id and c.id = r.contact_id
    where r.org_id = ${orgId} and r.id = ${responseId}
      and r.comment is not null and r.held_reason is null and o.ai_enabled
      and not exists (select from analyses where org_id = r.org_id and response_id = r.id)`;
  return row;
}

export async function saveAnalysis(
  sql: Sql,
  { orgId, responseId }: { orgId: string; responseId: string },
  { sentiment, themes, churn_risk, summary, provider }: Analysis & { provider: string },
) {
  await sql`
    insert into analyses (org_id, response_id, sentiment, themes, churn_risk, summary, provider)
    select org_id, id, ${sentiment}, ${themes}, ${churn_risk}, ${summary}, ${provider}
    from responses
    where org_id = ${orgId} and id = ${responseId}
    on conflict do nothing`;
}

/** Forgets analyses, so that they are made again; says of which answers. */
export async function forgetAnalyses(sql: Sql, orgId: string, since: Date) {
  await sql`
    delete from analyses a
    using responses r
    where a.org_id = ${orgId} and r.org_id = a.org_id and r.id = a.response_id
      and r.created_at >= ${since}`;
  const rows = await sql<{ id: string }[]>`
    select id
    from responses
    where org_id = ${orgId} and created_at >= ${since} and comment is not null and held_reason is null
    order by created_at`;
  return rows.map(({ id }) => id);
}

export async function countUnanalyzed(sql: Sql, orgId: string, since: Date): Promise<number> {
  return one(
    await sql<{ left: number }[]>`
      select count(*)::int as left
      from responses r
      where org_id = ${orgId} and created_at >= ${since} and comment is not null and held_reason is null
        and not exists (select from analyses where org_id = r.org_id and response_id = r.id)`,
  ).left;
}

export async function listThemes(sql: Sql, orgId: string) {
  return await sql<(Theme & { id: string })[]>`
    select id, name, words from themes where org_id = ${orgId} order by lower(name)`;
}

/** Adds a theme, or gives the one of that name other words. */
export async function saveTheme(sql: Sql, orgId: string, { name, words }: Theme) {
  return one(
    await sql<(Theme & { id: string })[]>`
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
