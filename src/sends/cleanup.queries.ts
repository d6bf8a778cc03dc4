import type { Sql } from '../lib/db/db.ts';

type OldBlockedMails = { days: number; atMost: number };

export async function deleteOldBlockedMails(sql: Sql, { days, atMost }: OldBlockedMails) {
  const { count } = await sql`
    delete from blocked_mails
    where id in (
      select id
      from blocked_mails
      where blocked_on < (now() at time zone 'UTC')::date - ${days}::int
      order by blocked_on
      limit ${atMost}
      for update skip locked
    )`;
  return count;
}
