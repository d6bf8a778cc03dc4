import { Refusal } from '../errors.ts';
import { type Sql, violates } from '../lib/db/db.ts';
import { addressPattern } from '../lib/smtp/address.ts';

export type ErasedContact = {
  id: string;
  survey_id: string;
  email: string;
  name: string | null;
  token: string;
};

type ContactsToErase = {
  orgId: string;
  key: string;
  /** Only contacts that were added before then; without a time all of them. */
  before: Date | null;
};

export async function listContactsOf(sql: Sql, { orgId, key, before }: ContactsToErase) {
  return await sql<ErasedContact[]>`
    select id, survey_id, email, name, token
    from contacts
    where org_id = ${orgId} and email_key = ${key}
      and created_at < coalesce(${before}::timestamptz, 'infinity')`;
}

/** Locked in the order in which mailing locks them. */
export async function lockContacts(sql: Sql, orgId: string, ids: readonly string[]) {
  await sql`
    select from contacts
    where org_id = ${orgId} and id = any (${[...ids]}::uuid[])
    order by email_key, id
    for update`;
}

type Dependents = { mails: number; openings: number; campaign_results: number };

export async function countDependents(sql: Sql, orgId: string, ids: readonly string[]) {
  const [counts] = await sql<Dependents[]>`
    select (select count(*)::int from mails
            where org_id = ${orgId} and contact_id = any (${[...ids]}::uuid[])) as mails,
           (select count(*)::int from link_visits
            where org_id = ${orgId} and contact_id = any (${[...ids]}::uuid[])) as openings,
           (select count(*)::int from campaign_contacts
            where org_id = ${orgId} and contact_id = any (${[...ids]}::uuid[])) as campaign_results`;
  return counts!;
}

export async function deleteContacts(sql: Sql, orgId: string, ids: readonly string[]) {
  const { count } = await sql`
    delete from contacts
    where org_id = ${orgId} and id = any (${[...ids]}::uuid[])`;
  return count;
}

/** Contacts of others that name an address in a property or in their name. What adds contacts must be held off. */
export async function listContactsMentioning(sql: Sql, { orgId, key, before }: ContactsToErase) {
  const pattern = addressPattern(key);
  const rows = await sql<{ id: string }[]>`
    select id
    from contacts
    where org_id = ${orgId} and email_key <> ${key}
      and created_at < coalesce(${before}::timestamptz, 'infinity')
      and (strpos(lower(properties::text), ${key}) > 0 and properties::text ~* ${pattern}
           or strpos(lower(name), ${key}) > 0 and name ~* ${pattern})`;
  return rows.map(({ id }) => id);
}

/** Puts `[email]` in the place of an address in names and properties of contacts, which must be locked. */
export async function hideInContacts(
  sql: Sql,
  orgId: string,
  { key, ids }: { key: string; ids: readonly string[] },
): Promise<number> {
  const { count } = await sql`
    update contacts
    set name = hide_address(name, ${key}), properties = hide_address(properties::text, ${key})::jsonb
    where org_id = ${orgId} and id = any (${[...ids]}::uuid[])`;
  return count;
}

const longestAddress = 254;

/**
 * Deletes lists that wait to be taken over and name an address, and the lines left out of others that do. A piece of a
 * list is read with the beginning of the next one, because an address may lie across the two.
 */
export async function deleteUploadsMentioning(
  sql: Sql,
  orgId: string,
  key: string,
): Promise<number> {
  const pattern = addressPattern(key);
  const waiting = await sql`
    delete from contact_uploads u
    where u.org_id = ${orgId} and exists (
      select
      from contact_upload_chunks c
      left join contact_upload_chunks next
        on next.org_id = c.org_id and next.upload_id = c.upload_id and next.place = c.place + 1
      where c.org_id = ${orgId} and c.upload_id = u.id
        and c.chunk || coalesce(left(next.chunk, ${longestAddress}::int), '') ~* ${pattern}
    )`;
  const rejects = await sql`
    delete from contact_upload_rejects
    where org_id = ${orgId} and (value ~* ${pattern} or reason ~* ${pattern})`;
  return waiting.count + rejects.count;
}

/** Those of these addresses (in lower case) that were erased and not allowed again. */
export async function listErased(sql: Sql, orgId: string, keys: readonly string[]) {
  if (keys.length === 0) return new Set<string>();
  const rows = await sql<{ key: string }[]>`
    select given.key
    from organizations o
    cross join unnest(${[...keys]}::text[]) as given (key)
    where o.id = ${orgId}
      and (select exists (select from erasures where org_id = ${orgId} and allowed_at is null))
      and exists (
        select from erasures e
        where e.org_id = o.id and e.allowed_at is null and e.address_hash = keyed_hash(o.address_key, given.key)
      )`;
  return new Set(rows.map(({ key }) => key));
}

export const isErasedAddress = async (sql: Sql, orgId: string, key: string) =>
  (await listErased(sql, orgId, [key])).size > 0;

export const violatesErasure = (error: unknown) => violates(error, 'contacts_are_not_erased');

export const addressErased = () =>
  new Refusal('conflict', 'the person of this address was erased: an owner can allow it again', {
    code: 'erased',
  });

export type Inactive = { id: string; survey_id: string; position: string };

/** Contacts that nothing has changed, been mailed to, opened or answered for so many days, oldest first. */
export async function listInactive(
  sql: Sql,
  orgId: string,
  { days, after, atMost }: { days: number; after: Inactive | null; atMost: number },
) {
  return await sql<Inactive[]>`
    select c.id, c.survey_id, c.created_at::text as position
    from contacts c
    where c.org_id = ${orgId} and ${isInactive(sql, days)}
      ${after ? sql`and (c.created_at, c.id) > (${after.position}::text::timestamptz, ${after.id}::uuid)` : sql``}
    order by c.created_at, c.id
    limit ${atMost}`;
}

/** Those that still are, locked; one that is being changed is left out. */
export async function lockInactive(
  sql: Sql,
  orgId: string,
  { days, ids }: { days: number; ids: readonly string[] },
) {
  const rows = await sql<{ id: string }[]>`
    select c.id
    from contacts c
    where c.org_id = ${orgId} and c.id = any (${[...ids]}::uuid[]) and ${isInactive(sql, days)}
    for update skip locked`;
  return rows.map(({ id }) => id);
}

const isInactive = (sql: Sql, days: number) => sql`
  -- organization: caller
  c.created_at < now() - make_interval(days => ${days}::int)
  and greatest(c.updated_at, c.sent_at, c.responded_at) < now() - make_interval(days => ${days}::int)
  and not exists (
    select from mails m
    where m.contact_id = c.id
      and (m.status in ('claimed', 'sending')
           or greatest(m.claimed_at, m.finished_at) >= now() - make_interval(days => ${days}::int))
  )
  and not exists (
    select from link_visits v
    where v.contact_id = c.id and v.visited_at >= now() - make_interval(days => ${days}::int)
  )
  and not exists (
    select from campaign_contacts w
    where w.contact_id = c.id and w.batch_id is null and w.reason_code is null
  )`;
