import type { Sql } from '../lib/db/db.ts';
import type { Category, SurveyType } from '../scores.ts';

export type PastAnswer = {
  id: string;
  survey_id: string;
  type: SurveyType;
  score: number;
  category: Category;
  comment: string | null;
  created_at: Date;
};

/** The newest responses, oldest first: the demo's webhook is notified of them. */
export async function listNewestAnswers(sql: Sql, orgId: string, limit: number) {
  return await sql<PastAnswer[]>`
    select *
    from (
      select r.id, r.survey_id, s.type, r.score, r.category, r.comment, r.created_at
      from responses r
      join surveys s on s.org_id = r.org_id and s.id = r.survey_id
      where r.org_id = ${orgId}
      order by r.created_at desc, r.id desc
      limit ${limit}
    ) newest
    order by created_at, id`;
}
