import type { Sql } from '../lib/db/db.ts';
import { markKept, markReleased } from './subscription.queries.ts';

type Who = { orgId: string; email: string };

/** Shows on all contacts of an address that the organization mails it no more. */
export const keepContacts = (
  sql: Sql,
  who: Who,
  why: { status: 'unsubscribed' | 'bounced'; reason: string | null },
) => markKept(sql, who, why);

/** Shows on them that it may be mailed again, or still not, because its mailbox does not exist. */
export const releaseContacts = (sql: Sql, who: Who & { bounced: boolean }) =>
  markReleased(sql, who);
