import type { Sql } from '../lib/db/db.ts';

export async function findContactSurvey(sql: Sql, orgId: string, id: string) {
  const [contact] = await sql<{ survey_id: string }[]>`
    select survey_id
    from contacts
    where org_id = ${orgId} and id = ${id}`;
  return contact?.survey_id;
}

/** Locks the contact: its mail cannot be claimed meanwhile. */
export async function isBeingMailed(sql: Sql, orgId: string, id: string): Promise<boolean> {
  await sql`select from contacts where org_id = ${orgId} and id = ${id} for update`;
  const rows = await sql`
    select
    from mails
    where org_id = ${orgId} and contact_id = ${id} and status in ('claimed', 'sending')
    limit 1`;
  return rows.length > 0;
}

export async function deleteContactRow(sql: Sql, orgId: string, id: string): Promise<boolean> {
  const rows = await sql`
    delete from contacts
    where org_id = ${orgId} and id = ${id}
    returning id`;
  return rows.length > 0;
}
