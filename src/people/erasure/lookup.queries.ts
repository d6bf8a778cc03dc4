import type { Sql } from '../../lib/db/db.ts';

/** The ids of what contacts answered, of what websites handed in with their address, and of the notes about all of it. */
export async function listWrittenIds(
  sql: Sql,
  orgId: string,
  { contactIds, pattern }: { contactIds: readonly string[]; pattern: string },
) {
  const rows = await sql<{ id: string }[]>`
    with written as (
      select id
      from responses
      where org_id = ${orgId} and contact_id = any (${[...contactIds]}::uuid[])
         or org_id = ${orgId} and properties is not null and properties::text ~* ${pattern}
    )
    select id from written
    union all
    select n.id
    from written w
    join response_notes n on n.org_id = ${orgId} and n.response_id = w.id`;
  return rows.map(({ id }) => id);
}

/** The months in which an organization has mailed, locked before all else: in the order in which mailing locks. */
export async function lockMonthsOf(sql: Sql, orgId: string) {
  await sql`
    select from mail_usage
    where org_id = ${orgId}
    order by month
    for no key update`;
}

/** All surveys of contacts, locked in their order: none completes meanwhile. */
export async function lockSurveysOf(sql: Sql, orgId: string, surveyIds: readonly string[]) {
  await sql`
    select from surveys
    where org_id = ${orgId} and id = any (${[...surveyIds]}::uuid[])
    order by id
    for no key update`;
}
