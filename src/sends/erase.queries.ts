import type { Sql } from '../lib/db/db.ts';
import { giveBackUsage } from '../organizations/usage.queries.ts';

/** All mails of contacts, locked before their contacts are: in the order in which outcomes lock them. */
export async function lockMailsOf(sql: Sql, orgId: string, contactIds: readonly string[]) {
  await sql`
    select from mails
    where org_id = ${orgId} and contact_id = any (${[...contactIds]}::uuid[])
    order by id
    for update`;
}

/** Gives mails that have not begun back to their month. To be called before they are deleted. */
export async function giveBackClaims(sql: Sql, orgId: string, contactIds: readonly string[]) {
  await sql`${giveBackUsage(
    sql,
    sql`select org_id, month, count(*) from mails
        where org_id = ${orgId} and contact_id = any (${[...contactIds]}::uuid[]) and status = 'claimed'
        group by 1, 2`,
  )}`;
}

export async function deleteBlockedMailsOf(
  sql: Sql,
  orgId: string,
  { key, before }: { key: string; before: Date | null },
): Promise<number> {
  const { count } = await sql`
    delete from blocked_mails
    where org_id = ${orgId} and email_key = ${key}
      and blocked_at < coalesce(${before}::timestamptz, 'infinity')`;
  return count;
}
