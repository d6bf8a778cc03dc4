import type { Sql } from '../lib/db/db.ts';

/** The update that gives mails back to their month, from a select of org_id, month and their number. */
export const giveBack = (sql: Sql, mails: ReturnType<typeof sql>) => sql`
  update mail_usage u
  set used = greatest(u.used - back.mails, 0)
  from (${mails}) as back (org_id, month, mails)
  where u.org_id = back.org_id and u.month = back.month`;
