import type { Sql } from '../lib/db/db.ts';

/** The insert that suppresses bounced addresses, from a select of org_id, email and the server's reason. */
export const suppressBounced = (sql: Sql, bounced: ReturnType<typeof sql>) => sql`
  insert into suppressions (org_id, email, kind, detail)
  select distinct on (org_id, lower(email)) org_id, lower(email), 'bounced', reason
  from (${bounced}) as b (org_id, email, reason)
  on conflict do nothing`;
