import type { Sql } from '../lib/db/db.ts';

type KeptMessage = { id: string; rcpt_to: string; raw: Buffer };

/** Messages after one of them, by id. */
export async function listRawMessages(
  sql: Sql,
  { after, atMost }: { after: string | null; atMost: number },
) {
  return await sql<KeptMessage[]>`
    select id, rcpt_to, raw
    from mailbox_messages
    where ${after}::uuid is null or id > ${after}::uuid
    order by id
    limit ${atMost}`;
}

export async function deleteMessagesById(sql: Sql, ids: readonly string[]): Promise<number> {
  const { count } = await sql`delete from mailbox_messages where id = any (${[...ids]}::uuid[])`;
  return count;
}

/** Deletes what came for an address that an organization has erased, unless it was allowed again since. */
export async function deleteMessagesToErased(sql: Sql, orgId: string, erasureId: string) {
  await sql`
    delete from mailbox_messages m
    using erasures e
    join organizations o on o.id = e.org_id
    where e.org_id = ${orgId} and e.id = ${erasureId} and e.allowed_at is null
      and keyed_hash(o.address_key, m.rcpt_to) = e.address_hash`;
}
