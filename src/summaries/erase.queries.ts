import type { Sql } from '../lib/db/db.ts';

export async function deleteAnalyses(sql: Sql, orgId: string, responseIds: readonly string[]) {
  const { count } = await sql`
    delete from analyses
    where org_id = ${orgId} and response_id = any (${[...responseIds]}::uuid[])`;
  return count;
}

/** The summaries of periods in which a response falls. */
export async function lockSummariesOver(sql: Sql, orgId: string, at: Date) {
  return await sql<{ id: string; text: string }[]>`
    select id, text
    from summaries
    where org_id = ${orgId} and period_start <= ${at} and period_end > ${at}
    order by id
    for no key update`;
}

export async function replaceText(
  sql: Sql,
  orgId: string,
  { id, text }: { id: string; text: string },
) {
  await sql`update summaries set text = ${text} where org_id = ${orgId} and id = ${id}`;
}
