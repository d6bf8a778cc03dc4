import type { Sql } from '../lib/db/db.ts';
import type { OrgSurvey } from '../surveys/queries.ts';

export type ContactAnswer = {
  org_id: string;
  survey_id: string;
  contact_id: string | null;
  created_at: Date;
};

/** The update that marks a contact as having answered, if `when` holds. */
export const markAnswered = (sql: Sql, answer: ContactAnswer, when: ReturnType<typeof sql>) => sql`
  update contacts
  set status = 'responded', responded_at = ${answer.created_at}::timestamptz, updated_at = now()
  where org_id = ${answer.org_id} and survey_id = ${answer.survey_id}
    and id = ${answer.contact_id}::uuid and ${when}`;

/** Marks contacts whose answers were given elsewhere, at the time of their latest. */
export async function markAnsweredMany(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  answers: readonly Pick<ContactAnswer, 'contact_id' | 'created_at'>[],
) {
  const times = answers.map(({ created_at }) => created_at.toISOString());
  await sql`
    update contacts c
    set status = 'responded', responded_at = greatest(c.responded_at, a.at), updated_at = now()
    from (
      select id, max(at)
      from unnest(${answers.map(({ contact_id }) => contact_id)}::uuid[], ${times}::timestamptz[]) as u (id, at)
      group by id
    ) as a (id, at)
    where c.org_id = ${orgId} and c.survey_id = ${surveyId} and c.id = a.id`;
}
