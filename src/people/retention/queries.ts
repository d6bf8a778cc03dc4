import type { Sql } from '../../lib/db/db.ts';

export type Retention = {
  org_id: string;
  comments_days: number | null;
  contacts_days: number | null;
  openings_days: number | null;
  mails_days: number | null;
};

/** How long organizations keep what, for those that do not keep everything. */
export async function listRetentions(sql: Sql) {
  return await sql<Retention[]>`
    select id as org_id, keep_comments_days as comments_days, keep_contacts_days as contacts_days,
           keep_openings_days as openings_days, greatest(keep_mails_days, case when keep_mails_days > 0 then frequency_days end) as mails_days
    from organizations
    where num_nonnulls(keep_comments_days, keep_contacts_days, keep_openings_days, keep_mails_days) > 0
    order by id`;
}

export async function listSurveyIds(sql: Sql, orgId: string) {
  const rows = await sql<
    { id: string }[]
  >`select id from surveys where org_id = ${orgId} order by id`;
  return rows.map(({ id }) => id);
}
