import type { Sql } from '../lib/db/db.ts';

/** Shows on all contacts of an address that the organization mails it no more; "responded" stays. */
export async function markBlocked(
  sql: Sql,
  { orgId, email }: { orgId: string; email: string },
  { status, reason }: { status: 'unsubscribed' | 'bounced'; reason: string | null },
) {
  await sql`
    update contacts c
    set status = ${status}, failure_reason = coalesce(${reason}, c.failure_reason), updated_at = now()
    from (${contactsOf(sql, orgId, email)}) held
    where c.org_id = ${orgId} and c.id = held.id
      and c.status not in ('responded', 'unsubscribed', ${status})`;
}

/** The same for many addresses at once, in lower case. */
export async function markManyBlocked(
  sql: Sql,
  orgId: string,
  blocked: readonly { email: string; kind: 'unsubscribed' | 'bounced' }[],
) {
  await sql`
    update contacts c
    set status = held.kind, updated_at = now()
    from (
      select contacts.id, b.kind
      from unnest(${blocked.map(({ email }) => email)}::text[], ${blocked.map(({ kind }) => kind)}::text[])
        as b (email, kind)
      join contacts on contacts.org_id = ${orgId} and contacts.email_key = b.email
      order by contacts.email_key, contacts.id
      for no key update of contacts
    ) held
    where c.org_id = ${orgId} and c.id = held.id and c.status not in ('responded', 'unsubscribed', held.kind)`;
}

/** Gives them the status they had before, which follows from the outcome of their mail. */
export async function markUnblocked(
  sql: Sql,
  { orgId, email, bounced }: { orgId: string; email: string; bounced: boolean },
) {
  await sql`
    update contacts c
    set status = case when ${bounced} then 'bounced'
                      when c.sent_at is not null then 'sent'
                      when c.failure_reason is not null then 'failed'
                      else 'pending' end,
        updated_at = now()
    from (${contactsOf(sql, orgId, email)}) held
    where c.org_id = ${orgId} and c.id = held.id and c.status in ('unsubscribed', 'bounced')`;
}

/** Locked in the order in which mailing locks them. */
const contactsOf = (sql: Sql, orgId: string, email: string) => sql`
  select id
  from contacts
  where org_id = ${orgId} and email_key = ${email}
  order by email_key, id
  for no key update`;
