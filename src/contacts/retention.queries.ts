import type { Sql } from '../lib/db/db.ts';

export type Inactive = { id: string; survey_id: string; position: string };

/** Contacts that nothing has changed, been mailed to, opened or answered for so many days, oldest first. */
export async function listInactive(
  sql: Sql,
  orgId: string,
  { days, after, atMost }: { days: number; after: Inactive | null; atMost: number },
) {
  return await sql<Inactive[]>`
    select c.id, c.survey_id, c.created_at::text as position
    from contacts c
    where c.org_id = ${orgId} and ${isInactive(sql, days)}
      ${after ? sql`and (c.created_at, c.id) > (${after.position}::text::timestamptz, ${after.id}::uuid)` : sql``}
    order by c.created_at, c.id
    limit ${atMost}`;
}

/** Those that still are, locked; one that is being changed is left out. */
export async function lockInactive(
  sql: Sql,
  orgId: string,
  { days, ids }: { days: number; ids: readonly string[] },
) {
  const rows = await sql<{ id: string }[]>`
    select c.id
    from contacts c
    where c.org_id = ${orgId} and c.id = any (${[...ids]}::uuid[]) and ${isInactive(sql, days)}
    for update skip locked`;
  return rows.map(({ id }) => id);
}

const isInactive = (sql: Sql, days: number) => sql`
  -- organization: caller
  c.created_at < now() - make_interval(days => ${days}::int)
  and greatest(c.updated_at, c.sent_at, c.responded_at) < now() - make_interval(days => ${days}::int)
  and not exists (
    select from mails m
    where m.contact_id = c.id
      and (m.status in ('claimed', 'sending')
           or greatest(m.claimed_at, m.finished_at) >= now() - make_interval(days => ${days}::int))
  )
  and not exists (
    select from link_visits v
    where v.contact_id = c.id and v.visited_at >= now() - make_interval(days => ${days}::int)
  )
  and not exists (
    select from campaign_contacts w
    where w.contact_id = c.id and w.batch_id is null and w.reason_code is null
  )`;
