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

/** Makes a completed survey active again; returns nothing when it is not completed. */
export async function reopenCompleted(sql: Sql, id: string): Promise<ManagedSurvey | undefined> {
  const [row] = await sql<ManagedSurvey[]>`
    update surveys
    set status = 'active', completed_by = null, completed_at = null, updated_at = now()
    where id = ${id} and status = 'completed'
    returning ${fields(sql)}`;
  return row;
}

/** What may be changed at any time: type and audience decide how scores are read, and stay. */
export type SurveyChanges = Partial<
  Pick<
    NewSurvey,
    'name' | 'question_text' | 'from_name' | 'from_email' | 'reply_to' | 'subject' | 'language'
  >
>;

/** At least one change must be given. */
export async function updateSurvey(
  sql: Sql,
  id: string,
  changes: SurveyChanges,
): Promise<ManagedSurvey | undefined> {
  const [row] = await sql<ManagedSurvey[]>`
    update surveys
    set ${sql(changes as Record<string, string>)}, updated_at = now()
    where id = ${id}
    returning ${fields(sql)}`;
  return row;
}

export type CountedSurvey = ManagedSurvey & { sent_count: number; response_count: number };

export async function allSurveys(sql: Sql, orgId: string): Promise<CountedSurvey[]> {
  return await sql<CountedSurvey[]>`
    select ${fields(sql)}, t.sent_count, t.response_count
    from surveys s
    cross join lateral (
      select coalesce(sum(sent), 0)::int                               as sent_count,
             coalesce(sum(promoters + passives + detractors), 0)::int as response_count
      from survey_tallies
      where org_id = s.org_id and survey_id = s.id
    ) t
    where s.org_id = ${orgId}
    order by s.created_at desc, s.id desc`;
}
