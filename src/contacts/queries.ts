import { json, one, type Sql } from '../lib/db/db.ts';
import type { Listed } from '../lib/paging/list-answer.ts';
import { following, type Page } from '../lib/paging/page.ts';

/** From this many rows on it pays to look up the day a page begins on, instead of counting rows off. */
const deepOffset = 500;

/** A page of the organization's contacts, newest first. */
export async function listContacts(sql: Sql, orgId: string, page: Page): Promise<Listed> {
  const { limit } = page;
  return one(
    await sql<Listed[]>`
      with ${pickContacts(sql, orgId, page)},
      shown as (
        select row_number() over (order by c.created_at desc, c.id desc) as place,
               c.id, c.created_at, row_to_json(item) as item
        from picked c
        join surveys s on s.org_id = ${orgId} and s.id = c.survey_id
        cross join lateral (
          select c.id, c.email, c.name, c.status, c.failure_reason, iso(c.sent_at) as sent_at,
                 iso(c.responded_at) as responded_at, c.survey_id, s.name as survey_name
        ) item
      )
      select '[' || coalesce(
               string_agg(item::text, ',' order by place) filter (where place <= ${limit}::int), ''
             ) || ']' as data,
             (select coalesce(sum(contacts), 0)::int from survey_tallies where org_id = ${orgId}) as total,
             max(iso_exact(created_at) || ' ' || id) filter (where place = ${limit}::int) as last,
             count(*) > ${limit}::int as more
      from shown`,
  );
}

/** The page's rows and one more, as the CTE `picked`. */
function pickContacts(sql: Sql, orgId: string, { page, limit, cursor }: Page) {
  const newestFirst = sql`order by created_at desc, id desc limit ${limit + 1}::int`;
  const offset = (page - 1) * limit;
  if (cursor || offset < deepOffset) {
    // A limit in the text lets Postgres plan once for all pages; no page is longer than this one.
    return sql`picked as (
      select *
      from (
        select * from contacts where org_id = ${orgId} ${following(sql, cursor)}
        order by created_at desc, id desc
        limit 201 ${cursor || offset === 0 ? sql`` : sql`offset ${offset}::bigint`}
      ) longest
      ${newestFirst}
    )`;
  }
  return sql`
    days as (
      select day, sum(contacts)::int as contacts,
             sum(sum(contacts)::int) over (order by day desc) - sum(contacts) as newer
      from organization_day_tallies
      where org_id = ${orgId}
      group by day
    ), first_day as materialized (
      select day, ${offset}::bigint - newer as skipped
      from days
      where newer <= ${offset}::bigint and ${offset}::bigint < newer + contacts
    ), picked as (
      select *
      from contacts
      where org_id = ${orgId}
        and created_at < (select (day + 1)::timestamp at time zone 'UTC' from first_day)
      ${newestFirst} offset (select skipped from first_day)
    )`;
}

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
