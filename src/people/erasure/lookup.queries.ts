import type { Sql } from '../../lib/db/db.ts';

export async function findResponseIds(sql: Sql, orgId: string, contactIds: readonly string[]) {
  const rows = await sql<{ id: string }[]>`
    select id from responses where org_id = ${orgId} and contact_id = any (${[...contactIds]}::uuid[])`;
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
