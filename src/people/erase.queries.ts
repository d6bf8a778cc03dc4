import { contactTexts } from '../contacts/erase.ts';
import { json, one, type Sql } from '../lib/db/db.ts';
import { type Page, pagedJson } from '../lib/paging/page.ts';
import { addressPattern } from '../lib/smtp/address.ts';
import type { OrgId } from '../limits.ts';
import type { ErasureCounts } from './erase.ts';
import type { FiledErasure } from './receipts-file.ts';

/** Waits for transactions that add contacts, and blocks new ones until this one ends. */
export async function beginErasure(sql: Sql, orgId: string) {
  await sql`select begin_erasure(${orgId})`;
}

export async function hashAddress(sql: Sql, orgId: string, key: string): Promise<string> {
  return one(
    await sql<{ hash: string }[]>`select encode(address_hash(${orgId}, ${key}), 'hex') as hash`,
  ).hash;
}

export type ErasureReceipt = {
  id: string;
  erased_at: string;
  address_hash: string;
  counts: ErasureCounts;
  scores: 'kept' | 'deleted';
  allowed_at: string | null;
};

const receipt = (sql: Sql) => sql`
  e.id, iso(e.erased_at) as erased_at, encode(e.address_hash, 'hex') as address_hash, e.counts, e.scores,
  iso(e.allowed_at) as allowed_at`;

type NewErasure = Pick<ErasureReceipt, 'address_hash' | 'counts' | 'scores'>;

/** An address has one receipt in force. Erasing again updates it. */
export async function insertErasure(sql: Sql, orgId: string, erasure: NewErasure) {
  const { address_hash, counts, scores } = erasure;
  return one(
    await sql<ErasureReceipt[]>`
      insert into erasures as e (org_id, address_hash, scores, counts)
      values (${orgId}, decode(${address_hash}, 'hex'), ${scores}, ${json(sql, counts)})
      on conflict (org_id, address_hash) where allowed_at is null do update
        set scores = excluded.scores, counts = excluded.counts, erased_at = now(), filed_at = null
      returning ${receipt(sql)}`,
  );
}

export async function findErasure(
  sql: Sql,
  orgId: string,
  which: { id: string } | { hash: string },
) {
  const condition =
    'id' in which
      ? sql`e.id = ${which.id}`
      : sql`e.address_hash = decode(${which.hash}, 'hex') and e.allowed_at is null`;
  const [row] = await sql<ErasureReceipt[]>`
    select ${receipt(sql)}
    from erasures e
    where e.org_id = ${orgId} and ${condition}`;
  return row;
}

/** Returns false if the address was allowed before. */
export async function allowErased(sql: Sql, orgId: string, id: string): Promise<boolean> {
  const allowed = await sql`
    update erasures
    set allowed_at = now(), filed_at = null
    where org_id = ${orgId} and id = ${id} and allowed_at is null
    returning id`;
  return allowed.length > 0;
}

export function listErasures(
  sql: Sql,
  orgId: OrgId,
  { email, ...page }: Page & { email?: string | undefined },
) {
  const ofAddress =
    email === undefined ? sql`` : sql`and e.address_hash = address_hash(${orgId}, ${email})`;
  return pagedJson(sql, page, {
    rows: sql`(
        select e.*, e.erased_at as created_at from erasures e where e.org_id = ${orgId} ${ofAddress}
      ) receipts
      where true`,
    item: sql`cross join lateral (select ${receipt(sql)} from (select p.*) e) item`,
  });
}

/** Lists the ids of the contacts' responses, of responses whose properties contain the address, and of their notes and replies. */
export async function listWrittenIds(
  sql: Sql,
  orgId: string,
  { contactIds, pattern }: { contactIds: readonly string[]; pattern: string },
) {
  const rows = await sql<{ id: string }[]>`
    with written as (
      select id
      from responses
      where org_id = ${orgId} and contact_id = any (${[...contactIds]}::uuid[])
         or org_id = ${orgId} and contact_id is null and properties::text like '%@%' and properties::text ~* ${pattern}
    )
    select id from written
    union all
    select n.id
    from written w
    join response_notes n on n.org_id = ${orgId} and n.response_id = w.id
    union all
    select p.id
    from written w
    join replies p on p.org_id = ${orgId} and p.response_id = w.id`;
  return rows.map(({ id }) => id);
}

/** Locks the organization's months first, as sending does. */
export async function lockMonthsOf(sql: Sql, orgId: string) {
  await sql`
    select from mail_usage
    where org_id = ${orgId}
    order by month
    for no key update`;
}

export async function lockSurveysOf(sql: Sql, orgId: string, surveyIds: readonly string[]) {
  await sql`
    select from surveys
    where org_id = ${orgId} and id = any (${[...surveyIds]}::uuid[])
    order by id
    for no key update`;
}

type AddressToErase = { key: string; before: Date | null };

export async function deletePerson(sql: Sql, orgId: string, { key, before }: AddressToErase) {
  const rows = await sql<{ id: string }[]>`
    delete from people
    where org_id = ${orgId} and email_key = ${key}
      and created_at < coalesce(${before}::timestamptz, 'infinity')
    returning id`;
  return rows.map(({ id }) => id);
}

export async function hideInPeople(
  sql: Sql,
  orgId: string,
  { key, before }: AddressToErase,
): Promise<number> {
  const pattern = addressPattern(key);
  const { count } = await sql`
    update people p
    set name = hide_address(p.name, ${key}), properties = hide_address(p.properties::text, ${key})::jsonb,
        language = hide_address(p.language, ${key})
    from (
      select id
      from people
      where org_id = ${orgId} and created_at < coalesce(${before}::timestamptz, 'infinity')
        and (strpos(lower(properties::text), ${key}) > 0 and properties::text ~* ${pattern}
             or strpos(lower(name), ${key}) > 0 and name ~* ${pattern}
             or language ~* ${pattern})
      order by email_key
      for no key update
    ) held
    where p.org_id = ${orgId} and p.id = held.id`;
  return count;
}

export async function hideInSegments(sql: Sql, orgId: string, { key, before }: AddressToErase) {
  await sql`
    update segments
    set name = hide_address(name, ${key}), filter = hide_address(filter::text, ${key})::jsonb
    where org_id = ${orgId} and created_at < coalesce(${before}::timestamptz, 'infinity')
      and concat_ws(' ', name, filter::text) ~* ${addressPattern(key)}`;
}

export async function listOrganizationsOf(sql: Sql, ids: readonly string[]) {
  const rows = await sql<{ id: string }[]>`
    select id from organizations where id = any (${[...ids]}::uuid[])`;
  return new Set(rows.map(({ id }) => id));
}

/** Finds the addresses of hashes by hashing every address that the organization has. */
export async function listAddressesOf(sql: Sql, orgId: string, hashes: readonly string[]) {
  const rows = await sql<{ key: string; hash: string }[]>`
    with addresses as (
      select email_key as key from contacts where org_id = ${orgId}
      union
      select email_key from people where org_id = ${orgId}
      union
      select email_key from blocked_mails where org_id = ${orgId}
      union
      select email from suppressions where org_id = ${orgId}
      union
      select email from lifted_suppressions where org_id = ${orgId}
      union
      select addresses_in(consent) from lifted_suppressions where org_id = ${orgId} and consent like '%@%'
      union
      select addresses_in(${contactTexts(sql)})
      from contacts
      where org_id = ${orgId} and ${contactTexts(sql)} like '%@%'
      union
      select addresses_in(properties::text || ' ' || coalesce(name, ''))
      from people
      where org_id = ${orgId} and (properties::text like '%@%' or name like '%@%')
      union
      select addresses_in(comment) from responses where org_id = ${orgId} and comment like '%@%'
      union
      select addresses_in(words) from response_answers where org_id = ${orgId} and words like '%@%'
      union
      select addresses_in(properties::text)
      from responses
      where org_id = ${orgId} and properties::text like '%@%'
      union
      select addresses_in(text) from response_notes where org_id = ${orgId} and text like '%@%'
      union
      select addresses_in(text) from replies where org_id = ${orgId} and text like '%@%'
    ), hashed as materialized (
      select k.key, encode(keyed_hash(o.address_key, k.key), 'hex') as hash
      from addresses k
      join organizations o on o.id = ${orgId}
    )
    select key, hash from hashed where hash = any (${[...hashes]}::text[])`;
  return new Map(rows.map(({ key, hash }) => [hash, key]));
}

/** Restores a receipt from the file. An existing one only gets its `allowed_at`. */
export async function insertFiled(sql: Sql, erasure: FiledErasure) {
  const { id, org_id, address_hash, scores, counts, erased_at, allowed_at } = erasure;
  await sql`
    update erasures
    set allowed_at = ${allowed_at}
    where org_id = ${org_id} and id = ${id} and allowed_at is null and ${allowed_at}::timestamptz is not null`;
  await sql`
    insert into erasures (id, org_id, address_hash, scores, counts, erased_at, allowed_at, filed_at)
    values (${id}, ${org_id}, decode(${address_hash}, 'hex'), ${scores}, ${json(sql, counts)},
            ${erased_at}, ${allowed_at}, now())
    on conflict do nothing`;
}
