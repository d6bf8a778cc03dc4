import type { Sql } from '../lib/db/db.ts';

/** Returns whether it was spent now, and not before. */
export async function spendHandshake(sql: Sql, hash: Buffer, expiresAt: Date): Promise<boolean> {
  const { count } = await sql`
    insert into spent_handshakes (hash, expires_at)
    values (${hash}, ${expiresAt})
    on conflict do nothing`;
  return count > 0;
}

/** One that has expired is refused for that, with an hour for clocks that differ. */
export async function deleteOldHandshakes(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from spent_handshakes
    where hash in (
      select hash
      from spent_handshakes
      where expires_at < now() - interval '1 hour'
      limit ${limit}
      for update skip locked
    )`;
  return count;
}
