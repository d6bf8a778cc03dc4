import type { Sql } from '../lib/db/db.ts';

type ThemeScope = { surveyId: string | null; from: Date | null; until: Date | null; limit: number };

/** What the comments of an organization speak of, most mentioned first. */
export async function countThemes(
  sql: Sql,
  orgId: string,
  { surveyId, from, until, limit }: ThemeScope,
) {
  return await sql<{ theme: string; mentions: number; detractors: number }[]>`
    select theme,
           count(*)::int as mentions,
           count(*) filter (where r.category = 'detractor')::int as detractors
    from responses r
    join analyses a on a.org_id = r.org_id and a.response_id = r.id
    cross join lateral unnest(a.themes) as theme
    where r.org_id = ${orgId} and r.held_reason is null
      and (${surveyId}::uuid is null or r.survey_id = ${surveyId}::uuid)
      and (${from}::timestamptz is null or r.created_at >= ${from}::timestamptz)
      and (${until}::timestamptz is null or r.created_at < ${until}::timestamptz)
    group by theme
    order by mentions desc, theme
    limit ${limit}`;
}
