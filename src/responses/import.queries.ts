import type { Sql } from '../lib/db/db.ts';
import type { Category, SurveyType } from '../scores.ts';
import type { OrgSurvey } from '../surveys/queries.ts';

export async function findSurveyType(sql: Sql, orgId: string, surveyId: string) {
  const [survey] = await sql<{ type: SurveyType }[]>`
    select type from surveys where org_id = ${orgId} and id = ${surveyId}`;
  return survey?.type;
}

export type ImportedResponse = {
  contact_id: string | null;
  score: number;
  category: Category;
  comment: string | null;
  created_at: Date;
  /** Counts equal responses from 1; 1 when it is not given. */
  occurrence?: number;
};

/**
 * Inserts responses from elsewhere, except those that are there already, and returns how many were new. Of
 * equal responses (anonymous ones of the same day, for example) as many are kept as the file has.
 */
export async function insertImported(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  responses: readonly ImportedResponse[],
): Promise<number> {
  const inserted = await sql`
    insert into responses (org_id, survey_id, contact_id, source, score, category, comment, created_at)
    select ${orgId}, ${surveyId}, a.contact_id, 'import', a.score, a.category, a.comment, a.created_at
    from json_to_recordset(${JSON.stringify(responses)}::text::json) as a (
      contact_id uuid, score smallint, category text, comment text, created_at timestamptz,
      occurrence integer)
    where coalesce(a.occurrence, 1) > (
      select count(*)
      from responses r
      where r.org_id = ${orgId} and r.survey_id = ${surveyId} and r.created_at = a.created_at
        and r.score = a.score and r.held_reason is null
        and r.contact_id is not distinct from a.contact_id
        and r.comment is not distinct from a.comment
    )`;
  return inserted.count;
}
