import type { Sql } from '../lib/db/db.ts';

/** Deletes results by contact of campaigns that are over. Their counts stay with the campaign. */
export async function deleteOldResults(
  sql: Sql,
  orgId: string,
  { days, atMost }: { days: number; atMost: number },
): Promise<number> {
  const { count } = await sql`
    -- all organizations
    delete from campaign_contacts
    where id in (
      select c.id
      from campaigns g
      join campaign_contacts c on c.campaign_id = g.id and c.org_id = g.org_id
      where g.org_id = ${orgId} and g.kind = 'campaign'
        and g.finished_at < now() - make_interval(days => ${days}::int)
        and not exists (select from campaign_batches b where b.campaign_id = g.id and b.ended_at is null)
      limit ${atMost}
    )`;
  return count;
}
