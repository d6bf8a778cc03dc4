import type { Sql } from '../lib/db/db.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { newToken } from './many.queries.ts';

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

export type AnsweredContact = {
  email: string;
  name: string | null;
  properties: Record<string, unknown>;
  /** When it answered. */
  responded_at: Date;
};

/**
 * Saves contacts that answered elsewhere. What came with a later answer wins over what came with an earlier one, in
 * whatever order they are saved; saving one again changes nothing. No two may have the same address.
 */
export async function saveAnswered(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  contacts: readonly AnsweredContact[],
) {
  const rows = contacts.map((contact) => ({ ...contact, token: newToken() }));
  const isLater = sql`coalesce(excluded.responded_at > c.responded_at, true)`;
  const name = sql`
    case when ${isLater} then coalesce(excluded.name, c.name) else coalesce(c.name, excluded.name) end`;
  const properties = sql`
    case when ${isLater} then c.properties || excluded.properties else excluded.properties || c.properties end`;
  await sql`
    insert into contacts as c (org_id, survey_id, email, name, properties, token, status, responded_at)
    select ${orgId}, ${surveyId}, email, name, properties, token, 'responded', responded_at
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as given (email text, name text, properties jsonb, token text, responded_at timestamptz)
    order by lower(email)
    on conflict (survey_id, email_key) do update
      set name = ${name}, properties = ${properties}, status = 'responded',
          responded_at = greatest(c.responded_at, excluded.responded_at), updated_at = now()
      where c.org_id = ${orgId}
        and (${name}, ${properties}, 'responded', greatest(c.responded_at, excluded.responded_at))
            is distinct from (c.name, c.properties, c.status, c.responded_at)`;
}
