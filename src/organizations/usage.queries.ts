import { one, type Sql } from '../lib/db/db.ts';

export type SendSettings = {
  used: number;
  month: string;
  monthly_send_limit: number;
  frequency_days: number | null;
};

/** The organization's month of sends, locked until the transaction ends, and the rules for its sends. */
export async function lockUsage(sql: Sql, orgId: string): Promise<SendSettings> {
  return one(
    await sql<SendSettings[]>`
      with usage as (
        insert into mail_usage as u (org_id, month)
        values (${orgId}, date_trunc('month', now() at time zone 'UTC')::date)
        on conflict (org_id, month) do update set used = u.used
        returning used, month
      )
      select usage.used, usage.month::text, o.monthly_send_limit, o.frequency_days
      from usage, organizations o
      where o.id = ${orgId}`,
  );
}

export async function addUsage(sql: Sql, orgId: string, month: string, mails: number) {
  await sql`
    update mail_usage
    set used = used + ${mails}
    where org_id = ${orgId} and month = ${month}::date`;
}
