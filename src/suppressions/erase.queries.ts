import type { Sql } from '../lib/db/db.ts';

/** Deletes the suppressions of an address: those made before a time, or all of them. */
export async function deleteSuppressionsOf(
  sql: Sql,
  orgId: string,
  { key, before }: { key: string; before: Date | null },
): Promise<number> {
  const { count } = await sql`
    delete from suppressions
    where org_id = ${orgId} and email = ${key}
      and created_at < coalesce(${before}::timestamptz, 'infinity')`;
  return count;
}
