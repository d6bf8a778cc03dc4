import { json, one, type Sql } from '../../lib/db/db.ts';
import type { Page } from '../../lib/paging/page.ts';
import { newest, pagedJson } from '../../lib/paging/paged-json.ts';
import type { OrgId } from '../../org-id.ts';
import type { ErasureCounts } from './counts.ts';

/** All who add contacts of the organization have committed, or wait until the transaction ends. */
export async function beginErasure(sql: Sql, orgId: string) {
  await sql`select begin_erasure(${orgId})`;
}

export async function hashAddress(sql: Sql, orgId: string, key: string): Promise<string> {
  return one(
    await sql<{ hash: string }[]>`select encode(address_hash(${orgId}, ${key}), 'hex') as hash`,
  ).hash;
}

/** A receipt, as the API shows it. */
export type ErasureReceipt = {
  id: string;
  erased_at: string;
  address_hash: string;
  counts: ErasureCounts;
  scores: 'kept' | 'deleted';
  allowed_at: string | null;
};

const receipt = (sql: Sql) => sql`
  id, iso(erased_at) as erased_at, encode(address_hash, 'hex') as address_hash, counts, scores,
  iso(allowed_at) as allowed_at`;

type NewErasure = Pick<ErasureReceipt, 'address_hash' | 'counts' | 'scores'>;

/** One receipt is in force for an address. What is erased under it once more takes its place. */
export async function insertErasure(sql: Sql, orgId: string, erasure: NewErasure) {
  const { address_hash, counts, scores } = erasure;
  return one(
    await sql<ErasureReceipt[]>`
      insert into erasures (org_id, address_hash, scores, counts)
      values (${orgId}, decode(${address_hash}, 'hex'), ${scores}, ${json(sql, counts)})
      on conflict (org_id, address_hash) where allowed_at is null do update
        set scores = excluded.scores, counts = excluded.counts, erased_at = now(), filed_at = null
      returning ${receipt(sql)}`,
  );
}

/** The receipt that is in force for an address. */
export async function findInForce(sql: Sql, orgId: string, hash: string) {
  const [found] = await sql<ErasureReceipt[]>`
    select ${receipt(sql)}
    from erasures
    where org_id = ${orgId} and address_hash = decode(${hash}, 'hex') and allowed_at is null`;
  return found;
}

/** Allows the address of a receipt again, and returns whether it was not before. */
export async function allowErased(sql: Sql, orgId: string, id: string): Promise<boolean> {
  const allowed = await sql`
    update erasures
    set allowed_at = now(), filed_at = null
    where org_id = ${orgId} and id = ${id} and allowed_at is null
    returning id`;
  return allowed.length > 0;
}

export async function findErasure(sql: Sql, orgId: string, id: string) {
  const [found] = await sql<ErasureReceipt[]>`
    select ${receipt(sql)}
    from erasures
    where org_id = ${orgId} and id = ${id}`;
  return found;
}

/** The organization of a receipt, for the operator. */
export async function findErasureOrganization(sql: Sql, id: string) {
  const [found] = await sql<{ org_id: string }[]>`
    -- all organizations
    select org_id from erasures where id = ${id}`;
  return found?.org_id;
}

/** A page of an organization's receipts, newest first; with an address only those of it. */
export function listErasures(
  sql: Sql,
  orgId: OrgId,
  { email, ...page }: Page & { email?: string | undefined },
) {
  const ofAddress =
    email === undefined ? sql`` : sql`and e.address_hash = address_hash(${orgId}, ${email})`;
  const rows = sql`(
      select e.*, e.erased_at as created_at from erasures e where e.org_id = ${orgId} ${ofAddress}
    ) receipts
    where true`;
  return pagedJson(sql, {
    picked: newest(sql, { rows }, page),
    item: item(sql),
    total: sql`select count(*) from erasures e where e.org_id = ${orgId} ${ofAddress}`,
    page,
  });
}

const item = (sql: Sql) => sql`
  cross join lateral (
    select p.id, iso(p.erased_at) as erased_at, encode(p.address_hash, 'hex') as address_hash, p.counts, p.scores,
           iso(p.allowed_at) as allowed_at
  ) item`;
