import { notFound } from '../errors.ts';
import { json, one, type Sql } from '../lib/db/db.ts';
import type { SurveyType } from '../scores.ts';
import type { Embedding, Reminder, SendWindow } from './asking.schemas.ts';
import type { SurveyTexts, TextsByLanguage } from './texts.ts';

/** What its makers decide about a survey. */
export type SurveyContent = SurveyTexts & {
  language: string;
  texts: TextsByLanguage;
  name: string;
  from_name: string;
  from_email: string;
  reply_to: string;
  type: SurveyType;
  audience: 'employee' | null;
  reminders: readonly Reminder[];
  ask_after_days: number | null;
  send_window: SendWindow | null;
  embed: Partial<Embedding>;
};

export type NewSurvey = SurveyContent & {
  status: 'draft' | 'active';
  share_id: string;
  /** When it was made, if that was not just now. */
  created_at?: Date;
};

export type ManagedSurvey = SurveyContent & {
  id: string;
  org_id: string;
  share_id: string;
  status: 'draft' | 'active' | 'completed';
  completed_by: 'answers' | 'hand' | null;
  created_at: Date;
  updated_at: Date;
};

const fields = (sql: Sql) => sql`
  id, org_id, name, type, audience, status, completed_by, question_text, subject, language, intro,
  follow_up, thanks, texts, from_name, from_email, reply_to, reminders, ask_after_days, send_window,
  embed, share_id, created_at, updated_at`;

export async function insertSurvey(
  sql: Sql,
  orgId: string,
  { ask_after_days, ...survey }: NewSurvey,
): Promise<ManagedSurvey> {
  const since = ask_after_days === null ? null : new Date();
  const asking = { ask_after_days, ask_after_days_since: since };
  const row = { org_id: orgId, ...asking, ...toColumns(sql, survey) };
  return one(
    await sql<ManagedSurvey[]>`
      insert into surveys ${sql(row)}
      returning ${fields(sql)}`,
  );
}

const jsonColumns = new Set(['follow_up', 'thanks', 'texts', 'reminders', 'send_window', 'embed']);

/** Values as Postgres takes them: JSON goes as such, also when it is no more than a string. */
const toColumns = (sql: Sql, values: Partial<NewSurvey>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      jsonColumns.has(name) && value !== null ? json(sql, value as object) : value,
    ]),
  ) as Record<string, string>;

/** The command line owns the deployment: it names a survey by its id alone. */
export async function getSurvey(sql: Sql, id: string): Promise<ManagedSurvey> {
  const [row] = await sql<ManagedSurvey[]>`
    -- all organizations
    select ${fields(sql)} from surveys where id = ${id}`;
  if (!row) throw notFound('survey');
  return row;
}

export async function getOrgSurvey(sql: Sql, orgId: string, id: string): Promise<ManagedSurvey> {
  const [row] = await sql<ManagedSurvey[]>`
    select ${fields(sql)} from surveys where org_id = ${orgId} and id = ${id}`;
  if (!row) throw notFound('survey');
  return row;
}

/** Of an organization, locked for a change until the caller's transaction ends. */
export async function lockManagedSurvey(
  sql: Sql,
  orgId: string,
  { id, against }: { id: string; against: 'changes' | 'answers' },
): Promise<ManagedSurvey> {
  const [row] = await sql<ManagedSurvey[]>`
    select ${fields(sql)}
    from surveys
    where org_id = ${orgId} and id = ${id}
    for ${against === 'answers' ? sql`update` : sql`no key update`}`;
  if (!row) throw notFound('survey');
  return row;
}

/** Opens a draft; nothing comes back when it is none. */
export async function openDraft(sql: Sql, orgId: string, id: string) {
  const [row] = await sql<ManagedSurvey[]>`
    update surveys
    set status = 'active', updated_at = now()
    where org_id = ${orgId} and id = ${id} and status = 'draft'
    returning ${fields(sql)}`;
  return row;
}

/** Makes a completed survey active again; returns nothing when it is not completed. */
export async function reopenCompleted(sql: Sql, orgId: string, id: string) {
  const [row] = await sql<ManagedSurvey[]>`
    update surveys
    set status = 'active', completed_by = null, completed_at = null, updated_at = now()
    where org_id = ${orgId} and id = ${id} and status = 'completed'
    returning ${fields(sql)}`;
  return row;
}

export type SurveyChanges = Partial<SurveyContent> & { status?: 'draft' | 'active' };

/** At least one change must be given. Contacts that are there count from the day `ask_after_days` was set. */
export async function updateSurvey(
  sql: Sql,
  { org_id: orgId, id }: Pick<ManagedSurvey, 'org_id' | 'id'>,
  changes: SurveyChanges,
): Promise<ManagedSurvey> {
  const days = changes.ask_after_days;
  const since =
    days === undefined
      ? sql``
      : sql`, ask_after_days_since = case when ${days}::int is not null
                then case when ask_after_days = ${days}::int then ask_after_days_since else now() end end`;
  return one(
    await sql<ManagedSurvey[]>`
      update surveys
      set ${sql(toColumns(sql, changes))}, updated_at = now() ${since}
      where org_id = ${orgId} and id = ${id}
      returning ${fields(sql)}`,
  );
}

/** Whether anything was answered, also what is on hold, each by its own index, and whether anything was mailed. */
export async function findUse(sql: Sql, orgId: string, id: string) {
  return one(
    await sql<{ answered: boolean; mailed: boolean }[]>`
      select exists (select from responses
                     where org_id = ${orgId} and survey_id = ${id} and held_reason is null)
             or exists (select from responses
                        where org_id = ${orgId} and survey_id = ${id} and held_reason is not null)
               as answered,
             exists (select from mails
                     where org_id = ${orgId} and survey_id = ${id} and blocks_resend) as mailed`,
  );
}

/** With its contacts, mails, answers and totals. Those may be many: it takes the time that it takes. */
export async function deleteSurveyRow(sql: Sql, orgId: string, id: string) {
  await sql`select set_config('statement_timeout', '20min', true)`;
  await sql`delete from surveys where org_id = ${orgId} and id = ${id}`;
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
