import { one, type Sql } from '../lib/db/db.ts';
import { blockReasons } from '../sends/rules.ts';
import type { OrgCampaign } from './campaign.queries.ts';

type NewBatch = OrgCampaign & { id: string; mails: number };

export async function insertBatch(sql: Sql, { id, orgId, campaignId, mails }: NewBatch) {
  await sql`
    insert into campaign_batches (id, org_id, campaign_id, mails)
    values (${id}, ${orgId}, ${campaignId}, ${mails})`;
}

const blockingCodes = Object.values(blockReasons).map(({ reason_code }) => reason_code);

/** What became of the mails of a batch `b`. A contact that was deleted took its mail along. */
export const batchOutcomes = (sql: Sql) => sql`
  select count(*) filter (where m.status = 'sent')::int as sent,
         b.mails - count(*) filter (where not ${isBlocked(sql)})::int as blocked,
         count(*) filter (where m.status = 'unknown' or m.status = 'failed' and not ${isBlocked(sql)})::int as failed,
         count(*) filter (where m.status in ('claimed', 'sending'))::int as open
  from mails m
  where m.request_id = b.id and m.org_id = b.org_id`;

/** Whether a rule blocked a mail `m` after it was claimed. */
export const isBlocked = (sql: Sql) => sql`
  (m.status = 'failed' and coalesce(m.reason_code, '') = any (${blockingCodes}::text[]))`;

/** Writes down the outcomes of batches that have no open mail any more. */
export async function endBatches(sql: Sql, { orgId, campaignId }: OrgCampaign) {
  await sql`
    -- all organizations
    update campaign_batches e
    set sent = o.sent, blocked = o.blocked, failed = o.failed, ended_at = now()
    from campaign_batches b
    cross join lateral (${batchOutcomes(sql)}) o
    where b.org_id = ${orgId} and b.campaign_id = ${campaignId} and b.ended_at is null and o.open = 0
      and e.id = b.id`;
}

/**
 * The same for batches of campaigns that have ended or are paused. A mail that was given up because its process
 * could not reach the database may still become sent: what ended lately is counted again.
 */
export async function recountBatches(sql: Sql) {
  await sql`
    -- all organizations
    update campaign_batches e
    set sent = o.sent, blocked = o.blocked, failed = o.failed, ended_at = coalesce(e.ended_at, now())
    from (
      select * from campaign_batches where ended_at is null
      union all
      select * from campaign_batches where ended_at > now() - interval '10 minutes' and failed > 0
    ) b
    cross join lateral (${batchOutcomes(sql)}) o
    where o.open = 0 and e.id = b.id
      and (e.sent, e.blocked, e.failed) is distinct from (o.sent, o.blocked, o.failed)`;
}

/** How many mails of a campaign have no outcome yet. */
export async function countOpenMails(sql: Sql, { orgId, campaignId }: OrgCampaign) {
  const { open } = one(
    await sql<{ open: number }[]>`
      select coalesce(sum(o.open), 0)::int as open
      from campaign_batches b
      cross join lateral (${batchOutcomes(sql)}) o
      where b.org_id = ${orgId} and b.campaign_id = ${campaignId} and b.ended_at is null`,
  );
  return open;
}

/** The batches whose mails may still be withdrawn. */
export async function listOpenBatches(sql: Sql, { orgId, campaignId }: OrgCampaign) {
  const batches = await sql<{ id: string }[]>`
    select id
    from campaign_batches
    where org_id = ${orgId} and campaign_id = ${campaignId} and ended_at is null`;
  return batches.map(({ id }) => id);
}

type Withdrawals = readonly { batch_id: string; mails: number }[];

/** Takes withdrawn mails out of their batches, and back among those that wait. */
export async function takeBack(
  sql: Sql,
  { orgId, campaignId }: OrgCampaign,
  withdrawals: Withdrawals,
) {
  await sql`
    with taken as (
      update campaign_batches b
      set mails = b.mails - w.mails
      from unnest(${withdrawals.map(({ batch_id }) => batch_id)}::uuid[],
                  ${withdrawals.map(({ mails }) => mails)}::integer[]) as w (id, mails)
      where b.org_id = ${orgId} and b.campaign_id = ${campaignId} and b.id = w.id
      returning w.mails
    )
    update campaigns
    set waiting = waiting + (select coalesce(sum(mails), 0) from taken)
    where org_id = ${orgId} and id = ${campaignId}`;
}
