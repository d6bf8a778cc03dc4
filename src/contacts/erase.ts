import { Refusal } from '../errors.ts';
import { type Part, type Sql, violates } from '../lib/db/db.ts';
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
  /** Limits the erasure to contacts added before this time. */
  before: Date | null;
};

export async function listContactsOf(sql: Sql, { orgId, key, before }: ContactsToErase) {
  return await sql<ErasedContact[]>`
    select id, survey_id, email, name, token
    from contacts
    where org_id = ${orgId} and email_key = ${key}
      and created_at < coalesce(${before}::timestamptz, 'infinity')`;
}

/** Locks contacts in the order in which sending locks them. */
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

/** Lists other people's contacts whose name or properties contain an address. `begin_erasure` must run first. */
export async function listContactsMentioning(sql: Sql, { orgId, key, before }: ContactsToErase) {
  const texts = contactTexts(sql);
  const rows = await sql<{ id: string }[]>`
    select id
    from contacts
    where org_id = ${orgId} and email_key <> ${key}
      and created_at < coalesce(${before}::timestamptz, 'infinity')
      and strpos(lower(${texts}), ${key}) > 0 and ${texts} ~* ${addressPattern(key)}`;
  return rows.map(({ id }) => id);
}

/** Columns of a contact that may contain addresses of other people. The trigger `contacts_hide_erased` has the same. */
export const contactTexts = (sql: Sql): Part => sql`concat_ws(' ', properties, name)`;

/** Replaces an address with `[email]` in names and properties of locked contacts. */
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
 * Deletes waiting uploads and skipped rows that contain an address. Each chunk is searched with the beginning of the
 * next one, because an address may span both.
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

/** Returns the addresses that were erased and not allowed again. Keys are lower case. */
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
  new Refusal('conflict', 'this person was erased: an owner can unblock the address', {
    code: 'erased',
  });

export type Inactive = { id: string; survey_id: string; position: string };

/**
 * Lists contacts without a change, email, visit or answer in the last `days` days, oldest first. Contacts in rounds
 * stay until their next round. Otherwise, an audience would add a deleted contact again and ask it too early.
 */
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

/** Locks the contacts that are still inactive, and skips the ones that another transaction holds. */
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
  )
  and not exists (
    select from surveys s
    where s.org_id = c.org_id and s.id = c.survey_id and not c.superseded and s.repeat is not null
      and s.completed_by is distinct from 'hand'
      and greatest(c.updated_at, c.sent_at, c.responded_at)
          >= now() - make_interval(days => ${days}::int + (s.repeat ->> 'every_days')::int)
  )`;
