import { json, type Sql } from '../../lib/db/db.ts';
import type { FiledErasure } from './filed.ts';

export async function listOrganizationsOf(sql: Sql, ids: readonly string[]) {
  const rows = await sql<{ id: string }[]>`
    select id from organizations where id = any (${[...ids]}::uuid[])`;
  return new Set(rows.map(({ id }) => id));
}

/** The addresses that an organization has and that these are the hashes of: all that it has are hashed for that. */
export async function listAddressesOf(sql: Sql, orgId: string, hashes: readonly string[]) {
  const rows = await sql<{ key: string; hash: string }[]>`
    with known as (
      select email_key as key from contacts where org_id = ${orgId}
      union
      select email_key from blocked_mails where org_id = ${orgId}
      union
      select email from suppressions where org_id = ${orgId}
      union
      select addresses_in(properties::text || ' ' || coalesce(name, ''))
      from contacts
      where org_id = ${orgId} and (properties::text like '%@%' or name like '%@%')
      union
      select addresses_in(comment) from responses where org_id = ${orgId} and comment like '%@%'
      union
      select addresses_in(properties::text)
      from responses
      where org_id = ${orgId} and properties is not null and properties::text like '%@%'
      union
      select addresses_in(text) from response_notes where org_id = ${orgId} and text like '%@%'
    ), hashed as materialized (
      select k.key, encode(keyed_hash(o.address_key, k.key), 'hex') as hash
      from known k
      join organizations o on o.id = ${orgId}
    )
    select key, hash from hashed where hash = any (${[...hashes]}::text[])`;
  return new Map(rows.map(({ key, hash }) => [hash, key]));
}

/** A receipt of the file, as it was filed. One that is there is only brought up to date. */
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
