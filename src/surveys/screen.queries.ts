import { one, type Sql } from '../lib/db/db.ts';
import { likePattern } from '../lib/db/like-pattern.ts';
import type { SurveyType, Tally } from '../scores.ts';
import type { SurveyStatus } from './queries.ts';

export type ListedSurvey = Tally & {
  id: string;
  name: string;
  type: SurveyType;
  audience: 'employee' | null;
  status: SurveyStatus;
  created_at: Date;
  score_sum: number;
  contacts: number;
  sent: number;
  responded: number;
};

type ListPage = { page: number; limit: number; search: string };

/** A page of the organization's surveys whose names have the searched part, with their totals, newest first, and how many there are. */
export async function pageOfSurveys(sql: Sql, orgId: string, { page, limit, search }: ListPage) {
  const named = search === '' ? sql`` : sql`and name ilike ${likePattern(search)}`;
  const [surveys, [counted]] = await Promise.all([
    sql<ListedSurvey[]>`
      -- organization: caller
      select p.*, ${totals(sql)}
      from (
        select id, name, type, audience, status, created_at
        from surveys
        where org_id = ${orgId} ${named}
        order by created_at desc, id desc
        limit ${limit} offset ${(page - 1) * limit}
      ) p
      left join survey_tallies t on t.survey_id = p.id
      group by p.id, p.name, p.type, p.audience, p.status, p.created_at
      order by p.created_at desc, p.id desc`,
    sql<{ total: number }[]>`
      select count(*)::int as total from surveys where org_id = ${orgId} ${named}`,
  ]);
  return { surveys, total: counted?.total ?? 0 };
}

const totals = (sql: Sql) => sql`
  coalesce(sum(t.promoters), 0)::int    as promoters,
  coalesce(sum(t.passives), 0)::int     as passives,
  coalesce(sum(t.detractors), 0)::int   as detractors,
  coalesce(sum(t.score_sum), 0)::float8 as score_sum,
  coalesce(sum(t.contacts), 0)::int     as contacts,
  coalesce(sum(t.sent), 0)::int         as sent,
  coalesce(sum(t.responded), 0)::int    as responded`;

export type ReachedContacts = { contacts: number; sent: number; responded: number };

/** How many contacts the survey has, and how far it has come with them. */
export async function countReached(sql: Sql, orgId: string, surveyId: string) {
  return one(
    await sql<ReachedContacts[]>`
      select coalesce(sum(contacts), 0)::int  as contacts,
             coalesce(sum(sent), 0)::int      as sent,
             coalesce(sum(responded), 0)::int as responded
      from survey_tallies
      where org_id = ${orgId} and survey_id = ${surveyId}`,
  );
}

export type ScoreCount = { score: number; count: number };

/** How often each score was given since a moment, or ever. One index answers it. */
export async function countScores(
  sql: Sql,
  orgId: string,
  { surveyId, since }: { surveyId: string; since: Date | null },
) {
  return await sql<ScoreCount[]>`
    select score, count(*)::int as count
    from responses
    where org_id = ${orgId} and survey_id = ${surveyId} and held_reason is null
      ${since ? sql`and created_at >= ${since}` : sql``}
    group by score`;
}
