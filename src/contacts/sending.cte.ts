import type { Sql } from '../lib/db/db.ts';

type Part = ReturnType<Sql>;

// Contacts are locked in the order of their addresses, as saving many does: a list that is posted
// again while it is being mailed must not wait in a circle with the mailing.

/**
 * The update for contacts whose mail has an outcome, from a select of org_id, contact_id, the new
 * status, the reason, and when it was sent. A contact that has answered or unsubscribed meanwhile stays
 * so, and one that has that status already keeps its reason.
 */
export const markOutcome = (sql: Sql, outcomes: Part) => sql`
  update contacts c
  set status = case when c.status in ('responded', 'unsubscribed') then c.status else s.status end,
      failure_reason = coalesce(s.reason, case when c.status = s.status then c.failure_reason end),
      sent_at = coalesce(c.sent_at, s.sent_at),
      updated_at = now()
  from (
    select l.org_id, l.id, s.status, s.reason, s.sent_at
    from (${outcomes}) as s (org_id, contact_id, status, reason, sent_at)
    join contacts l on l.org_id = s.org_id and l.id = s.contact_id
    order by l.email_key, l.id
    for no key update of l
  ) s
  where c.org_id = s.org_id and c.id = s.id`;
