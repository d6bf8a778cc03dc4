import type { Sql } from '../lib/db/db.ts';

export type Answered = {
  org_id: string;
  survey_id: string;
  contact_id: string | null;
  created_at: Date;
};

/** The update that marks a contact as having answered, if `when` holds. */
export const markAnswered = (sql: Sql, answer: Answered, when: ReturnType<typeof sql>) => sql`
  update contacts
  set status = 'responded', responded_at = ${answer.created_at}::timestamptz, updated_at = now()
  where org_id = ${answer.org_id} and survey_id = ${answer.survey_id}
    and id = ${answer.contact_id}::uuid and ${when}`;
