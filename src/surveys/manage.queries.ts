import { notFound } from '../errors.ts';
import { one, type Sql } from '../lib/db/db.ts';
import type { SurveyType } from '../scores.ts';

export type NewSurvey = {
  name: string;
  question_text: string;
  from_name: string;
  from_email: string;
  reply_to: string;
  type: SurveyType;
  audience: 'employee' | null;
  subject: string | null;
  language: string;
  status: 'draft' | 'active';
  share_id: string;
  /** When it was made, if that was not just now. */
  created_at?: Date;
};

export type ManagedSurvey = Omit<NewSurvey, 'status' | 'created_at'> & {
  id: string;
  org_id: string;
  status: 'draft' | 'active' | 'completed';
  completed_by: 'answers' | 'hand' | null;
  created_at: Date;
  updated_at: Date;
};

const fields = (sql: Sql) => sql`
  id, org_id, name, type, audience, status, completed_by, question_text, subject, language, from_name,
  from_email, reply_to, share_id, created_at, updated_at`;

export async function insertSurvey(
  sql: Sql,
  orgId: string,
  survey: NewSurvey,
): Promise<ManagedSurvey> {
  return one(
    await sql<ManagedSurvey[]>`
      insert into surveys ${sql({ org_id: orgId, ...survey })}
      returning ${fields(sql)}`,
  );
}

/** The command line owns the deployment: it names a survey by its id alone. */
export async function findManagedSurvey(sql: Sql, id: string): Promise<ManagedSurvey | undefined> {
  const [row] = await sql<ManagedSurvey[]>`select ${fields(sql)} from surveys where id = ${id}`;
  return row;
}

export async function getSurvey(sql: Sql, id: string): Promise<ManagedSurvey> {
  const survey = await findManagedSurvey(sql, id);
  if (!survey) throw notFound('survey');
  return survey;
}

/** Opens a draft; nothing comes back when it is none. */
export async function openDraft(sql: Sql, id: string): Promise<ManagedSurvey | undefined> {
  const [row] = await sql<ManagedSurvey[]>`
    update surveys
    set status = 'active', updated_at = now()
    where id = ${id} and status = 'draft'
    returning ${fields(sql)}`;
  return row;
}

export async function allSurveys(sql: Sql, orgId: string): Promise<ManagedSurvey[]> {
  return await sql<ManagedSurvey[]>`
    select ${fields(sql)}
    from surveys
    where org_id = ${orgId}
    order by created_at desc, id desc`;
}
