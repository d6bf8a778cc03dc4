import { Refusal } from '../errors.ts';
import { one, type Sql } from '../lib/db/db.ts';

export type SendSettings = {
  used: number;
  month: string;
  monthly_send_limit: number;
  frequency_days: number | null;
};

/** The organization's month of sends, locked until the transaction ends, and the rules for its sends. */
export async function lockUsage(
  sql: Sql,
  orgId: string,
  at: Date | null = null,
): Promise<SendSettings> {
  return one(
    await sql<SendSettings[]>`
      with usage as (
        insert into mail_usage as u (org_id, month)
        values (${orgId}, date_trunc('month', coalesce(${at}::timestamptz, now()) at time zone 'UTC')::date)
        on conflict (org_id, month) do update set used = u.used
        returning used, month
      )
      select usage.used, usage.month::text, o.monthly_send_limit, o.frequency_days
      from usage, organizations o
      where o.id = ${orgId}`,
  );
}

/** An earlier month, locked before the present one: in the order in which months are locked everywhere. */
export async function lockMonth(sql: Sql, orgId: string, month: string) {
  await sql`
    select from mail_usage
    where org_id = ${orgId} and month = ${month}::date
    for no key update`;
}

/** The same as `lockUsage`, without a lock, for a look at what would be. */
export async function readUsage(sql: Sql, orgId: string, at: Date | null = null) {
  return one(
    await sql<SendSettings[]>`
      select coalesce(u.used, 0) as used, m.month::text, o.monthly_send_limit, o.frequency_days
      from organizations o
      cross join (
        select date_trunc('month', coalesce(${at}::timestamptz, now()) at time zone 'UTC')::date as month
      ) m
      left join mail_usage u on u.org_id = o.id and u.month = m.month
      where o.id = ${orgId}`,
  );
}

export type UsageTotals = {
  mails: number;
  /** First day of the month, UTC. */
  month: string;
  monthly_send_limit: number;
  responses: number;
  contacts: number;
  surveys: number;
};

/** Mails of the month, and what the organization has in all, from the kept counts. */
export async function readTotals(sql: Sql, orgId: string): Promise<UsageTotals> {
  return one(
    await sql<UsageTotals[]>`
      select coalesce(u.used, 0) as mails, m.month::text, o.monthly_send_limit, t.responses, t.contacts,
             (select count(*)::int from surveys where org_id = o.id) as surveys
      from organizations o
      cross join (select date_trunc('month', now() at time zone 'UTC')::date as month) m
      left join mail_usage u on u.org_id = o.id and u.month = m.month
      cross join lateral (
        select coalesce(sum(promoters + passives + detractors), 0)::int as responses,
               coalesce(sum(contacts), 0)::int as contacts
        from survey_tallies
        where org_id = o.id
      ) t
      where o.id = ${orgId}`,
  );
}

export type RetentionRun = {
  at: Date;
  comments: number;
  contacts: number;
  openings: number;
  mails: number;
};

/** What the last run that deleted something has deleted of what is older than the organization keeps. */
export async function findLastRetention(sql: Sql, orgId: string) {
  const [run] = await sql<RetentionRun[]>`
    select at, (details ->> 'comments')::int as comments, (details ->> 'contacts')::int as contacts,
           (details ->> 'openings')::int as openings, (details ->> 'mails')::int as mails
    from audit_events
    where org_id = ${orgId} and act = 'retention.applied'
    order by at desc
    limit 1`;
  return run;
}

/** How many mails the organization has sent this month. */
export async function countUsed(sql: Sql, orgId: string): Promise<number> {
  const [usage] = await sql<{ used: number }[]>`
    select used
    from mail_usage
    where org_id = ${orgId} and month = date_trunc('month', now() at time zone 'UTC')::date`;
  return usage?.used ?? 0;
}

export async function addUsage(sql: Sql, orgId: string, month: string, mails: number) {
  await sql`
    update mail_usage
    set used = used + ${mails}
    where org_id = ${orgId} and month = ${month}::date`;
}

/** The update that gives mails back to their month, from a select of org_id, month and their number. */
export const giveBackUsage = (sql: Sql, mails: ReturnType<typeof sql>) => sql`
  update mail_usage u
  set used = greatest(u.used - back.mails, 0)
  from (${mails}) as back (org_id, month, mails)
  where u.org_id = back.org_id and u.month = back.month`;

/** Refuses a send of more mails than the month has left. */
export function refuseOverLimit(
  { used, monthly_send_limit }: Pick<SendSettings, 'used' | 'monthly_send_limit'>,
  requested: number,
) {
  if (requested === 0 || used + requested <= monthly_send_limit) return;
  throw new Refusal(
    'forbidden',
    `the monthly send limit of ${monthly_send_limit} would be exceeded, nothing was sent`,
    {
      code: 'SEND_LIMIT_EXCEEDED',
      details: { current_limit: monthly_send_limit, used, requested },
    },
  );
}
