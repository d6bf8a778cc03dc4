import type { Sql } from '../lib/db/db.ts';

/** Of an organization: detractors of the last 30 days that are open, up to a hundred, and webhooks in trouble. */
export type NavigationCounts = { openDetractors: number; failingWebhooks: number };

/** The same of an organization `own`, as fields of a JSON object. */
export const navigationCounts = (sql: Sql) => sql`
  'openDetractors', (${countOpen(sql)}), 'failingWebhooks', (${countFailing(sql)})`;

/** More than these read as many. */
const mostOpenCounted = 100;

/** Every page asks: an index is read no further than to the most that is shown. */
const countOpen = (sql: Sql) => sql`
  select count(*)
  from (
    select from responses r
    where r.org_id = own.id and r.held_reason is null and r.state = 'open' and r.category = 'detractor'
      and r.created_at > now() - interval '30 days'
    limit ${mostOpenCounted}
  ) open`;

const countFailing = (sql: Sql) => sql`
  select count(*)
  from webhooks w
  where w.org_id = own.id and (w.failure_count > 0 or (not w.active and w.deactivated_reason is not null))`;
