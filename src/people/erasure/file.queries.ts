import type { Sql } from '../../lib/db/db.ts';

/** Receipts that are not in the file as they are now, each as its line; locked unless another process has them. */
export async function lockUnfiled(sql: Sql, atMost: number) {
  return await sql<{ id: string; line: string }[]>`
    -- all organizations
    select id,
           json_build_object(
             'id', id, 'org_id', org_id, 'erased_at', iso(erased_at), 'address_hash', encode(address_hash, 'hex'),
             'counts', counts, 'scores', scores, 'allowed_at', iso(allowed_at))::text as line
    from erasures
    where filed_at is null
    order by erased_at, id
    limit ${atMost}
    for update skip locked`;
}

export async function markFiled(sql: Sql, ids: readonly string[]) {
  await sql`
    -- all organizations
    update erasures set filed_at = now() where id = any (${[...ids]}::uuid[])`;
}
