import { json, one, type Sql } from '../lib/db/db.ts';
import type { Page } from '../lib/paging/page.ts';
import { newest, pagedJson } from '../lib/paging/paged-json.ts';
import type { OrgId } from '../org-id.ts';
import { nameOfSurvey } from '../surveys/queries.ts';

/** A page of the organization's contacts, newest first. */
export const listContacts = (sql: Sql, orgId: OrgId, page: Page) =>
  pagedJson(sql, {
    picked: newest(
      sql,
      { rows: sql`contacts where org_id = ${orgId}`, perHour: countPerHour(sql, orgId) },
      page,
    ),
    item: sql`cross join lateral (select ${itemColumns(sql, orgId)}) item`,
    total: sql`select coalesce(sum(contacts), 0) from survey_tallies where org_id = ${orgId}`,
    page,
  });

const itemColumns = (sql: Sql, orgId: OrgId) => sql`
  p.id, p.email, p.name, p.status, p.failure_reason, iso(p.sent_at) as sent_at,
  iso(p.responded_at) as responded_at, p.survey_id, ${nameOfSurvey(sql, orgId, sql`p`)}`;

const countPerHour = (sql: Sql, orgId: OrgId) => sql`
  select hour, contacts
  from hour_tallies
  where org_id = ${orgId}`;

export type ContactRow = {
  id: string;
  email: string;
  name: string | null;
  status: string;
  created_at: Date;
};

export type NewContact = {
  survey_id: string;
  email: string;
  name: string | null;
  properties: Record<string, unknown>;
  token: string;
};

type SavedContact = ContactRow & { properties: Record<string, unknown>; added: boolean };

/** Adds a contact, or updates the one with that address: a name replaces, custom fields are merged. */
export async function saveContact(
  sql: Sql,
  orgId: string,
  contact: NewContact,
): Promise<SavedContact> {
  return one(
    await sql<SavedContact[]>`
      insert into contacts as c (org_id, survey_id, email, name, properties, token)
      values (${orgId}, ${contact.survey_id}, ${contact.email}, ${contact.name},
              ${json(sql, contact.properties)}, ${contact.token})
      on conflict (survey_id, email_key) do update
        set name = coalesce(excluded.name, c.name),
            properties = c.properties || excluded.properties,
            updated_at = now()
        where c.org_id = ${orgId}
      returning id, email, name, status, created_at, properties, xmax = 0 as added`,
  );
}
