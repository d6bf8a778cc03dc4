import { randomBytes } from 'node:crypto';
import type { Sql } from '../lib/db/db.ts';
import type { OrgSurvey } from '../surveys/queries.ts';

const tokenBytes = 24;

/** The secret of a contact's personal link: too long to be guessed. */
export const newToken = () => randomBytes(tokenBytes).toString('base64url');

export type ManyContact = {
  email: string;
  name: string | null;
  properties: Record<string, unknown>;
  /** Whether a mail to it is about to go out. */
  sending?: boolean;
};

export type FoundContact = { id: string; email: string; key: string; token: string };
export type SavedContact = FoundContact & { name: string | null; added: boolean };

/**
 * Adds contacts to a survey or updates them, as saving one does. No two may have the same address. A
 * contact that has answered or unsubscribed stays so, also if a mail was to go out.
 */
export async function saveContacts(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  contacts: readonly ManyContact[],
) {
  if (contacts.length === 0) return [];
  const rows = contacts.map((contact) => ({ ...contact, token: newToken() }));
  return await sql<SavedContact[]>`
    insert into contacts as c (org_id, survey_id, email, name, properties, token, status)
    select ${orgId}, ${surveyId}, email, name, properties, token,
           case when sending then 'sending' else 'pending' end
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as given (email text, name text, properties jsonb, token text, sending boolean)
    order by lower(email)
    on conflict (survey_id, email_key) do update
      set name = coalesce(excluded.name, c.name),
          properties = c.properties || excluded.properties,
          status = case when excluded.status = 'sending' and c.status not in ('responded', 'unsubscribed')
                        then 'sending' else c.status end,
          failure_reason = case when excluded.status = 'sending' then null else c.failure_reason end,
          updated_at = now()
      where c.org_id = ${orgId}
    returning id, email, email_key as key, name, token, xmax = 0 as added`;
}

/** The contacts that the survey already has at these addresses. */
export async function listByAddress(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  keys: readonly string[],
) {
  return await sql<FoundContact[]>`
    select id, email, email_key as key, token
    from contacts
    where org_id = ${orgId} and survey_id = ${surveyId} and email_key = any (${[...keys]})`;
}

type Addition = { key: string; properties: Record<string, unknown> };

/**
 * The merged properties of contacts that come to more than so many bytes as Postgres writes JSON. Contacts are found
 * one by one: no plan reads a whole survey for each part of a list.
 */
export async function listLargeMerges(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  additions: readonly Addition[],
  bytes: number,
) {
  return await sql<Addition[]>`
    select given.key, c.properties || given.properties as properties
    from json_to_recordset(${JSON.stringify(additions)}::text::json) as given (key text, properties jsonb)
    cross join lateral (
      select properties
      from contacts
      where org_id = ${orgId} and survey_id = ${surveyId} and email_key = given.key
      limit 1
    ) c
    where octet_length((c.properties || given.properties)::text) > ${bytes}`;
}
