import type { Sql } from '../lib/db/db.ts';

/** Puts the keyed hash of an address in the place of the ids of its contacts: what was done stays, not to which contact. */
export async function replaceContactTargets(
  sql: Sql,
  orgId: string,
  { contactIds, hash }: { contactIds: readonly string[]; hash: string },
): Promise<number> {
  const { count } = await sql`
    update audit_events
    set target_id = ${hash}
    where org_id = ${orgId} and target = 'contact' and target_id = any (${[...contactIds]}::text[])`;
  return count;
}
