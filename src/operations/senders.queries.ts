import type { Sql } from '../lib/db/db.ts';

const most = 1000;

/** The addresses that surveys are or may yet be sent from, the most used first. */
export async function listSenders(sql: Sql): Promise<string[]> {
  const rows = await sql<{ from_email: string }[]>`
    select from_email
    from surveys
    where status <> 'completed'
    group by from_email
    order by count(*) desc, from_email
    limit ${most}`;
  return rows.map(({ from_email }) => from_email);
}

/** The same of one organization. */
export async function listSendersOf(sql: Sql, orgId: string): Promise<string[]> {
  const rows = await sql<{ from_email: string }[]>`
    select from_email
    from surveys
    where org_id = ${orgId} and status <> 'completed'
    group by from_email
    order by count(*) desc, from_email
    limit ${most}`;
  return rows.map(({ from_email }) => from_email);
}
