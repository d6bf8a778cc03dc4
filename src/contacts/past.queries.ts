import type { Sql } from '../lib/db/db.ts';
import type { OrgSurvey } from '../surveys/queries.ts';

export type PastContact = {
  email: string;
  name: string;
  properties: Readonly<Record<string, string>>;
  token: string;
  status: 'pending' | 'sent' | 'responded';
  sent_at: Date | null;
  responded_at: Date | null;
  created_at: Date;
};

/** Adds contacts with a past: the day on which one was added never changes afterwards. */
export async function insertPastContacts(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  contacts: readonly PastContact[],
): Promise<{ id: string; email: string }[]> {
  return await sql<{ id: string; email: string }[]>`
    insert into contacts (org_id, survey_id, email, name, properties, token, status, sent_at, responded_at, created_at)
    select ${orgId}, ${surveyId}, c.email, c.name, c.properties, c.token, c.status, c.sent_at, c.responded_at, c.created_at
    from json_to_recordset(${JSON.stringify(contacts)}::text::json) as c (
      email text, name text, properties jsonb, token text, status text,
      sent_at timestamptz, responded_at timestamptz, created_at timestamptz)
    returning id, email`;
}
