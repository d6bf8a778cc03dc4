import type { Sql } from '../lib/db/db.ts';
import type { KeyRow } from './queries.ts';

export type ListedKey = KeyRow & { public_id: string };

const fields = (sql: Sql) => sql`
  id, org_id, name, permission, expires_at, revoked_at, created_at, public_id`;

/** Also those that are revoked or expired: the list says which. */
export async function listKeys(sql: Sql, orgId: string): Promise<ListedKey[]> {
  return await sql<ListedKey[]>`
    select ${fields(sql)}
    from api_keys
    where org_id = ${orgId}
    order by created_at desc, id desc`;
}

/** Revoking a key again keeps the time at which it was first revoked. */
export async function revokeKey(sql: Sql, id: string): Promise<ListedKey | undefined> {
  const [row] = await sql<ListedKey[]>`
    update api_keys
    set revoked_at = coalesce(revoked_at, now())
    where id = ${id}
    returning ${fields(sql)}`;
  return row;
}
