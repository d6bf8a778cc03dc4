import { one, type Part, type Sql } from '../lib/db/db.ts';
import { itemJson, type Page, pagedJson } from '../lib/paging/page.ts';
import { addressPattern } from '../lib/smtp/address.ts';
import type { OrgId } from '../limits.ts';
import type { Audience } from '../people/audience.ts';
import { blockReasonCodes } from '../sends/rules.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import type { SendWindow } from '../surveys/schemas.ts';
import type { CampaignRecord } from './api.ts';
import type { AskableContact } from './judge.ts';

const sumOf = (sql: Sql) => sql`
  cross join lateral (
    select coalesce(sum(coalesce(b.sent, live.sent)), 0)::int       as sent,
           coalesce(sum(coalesce(b.blocked, live.blocked)), 0)::int as blocked,
           coalesce(sum(coalesce(b.failed, live.failed)), 0)::int   as failed,
           coalesce(sum(live.open), 0)::int                         as open,
           case when sum(live.open) = sum(live.delayed) then max(live.delayed_by) end as delayed_by
    from campaign_batches b
    left join lateral (${batchOutcomes(sql)}) live on b.ended_at is null
    where b.campaign_id = p.id and b.org_id = p.org_id
  ) s`;

const item = (sql: Sql) => sql`
  ${sumOf(sql)}
  cross join lateral (
    select p.id, p.survey_id, p.name, p.status, iso(p.send_at) as send_at, p.per_hour, p.audience, p.total, s.sent,
           p.duplicates + s.blocked as duplicates, p.invalid, s.failed, p.waiting + s.open as remaining,
           coalesce(p.reason, s.delayed_by) as reason, iso(p.created_at) as created_at, iso(p.started_at) as started_at,
           iso(p.finished_at) as finished_at
  ) item`;

/** Null if the organization has no such survey. */
export function listCampaigns(
  sql: Sql,
  orgId: OrgId,
  { surveyId, page }: { surveyId: string; page: Page },
) {
  const list = pagedJson(sql, page, {
    rows: sql`campaigns where org_id = ${orgId} and survey_id = ${surveyId} and kind = 'campaign'`,
    item: item(sql),
  });
  return sql`(
    select ${list}
    from surveys
    where org_id = ${orgId} and id = ${surveyId}
  )`;
}

export const campaignJson = (sql: Sql, orgId: OrgId, id: string): Part =>
  itemJson(sql, {
    row: sql`campaigns where org_id = ${orgId} and id = ${id} and kind = 'campaign'`,
    item: item(sql),
  });

export async function findCampaign(sql: Sql, orgId: string, id: string) {
  const { json } = one(
    await sql<{ json: string | null }[]>`select ${campaignJson(sql, orgId, id)} as json`,
  );
  return json === null ? undefined : (JSON.parse(json) as { data: CampaignRecord }).data;
}

/** A campaign or an automatic send of a survey. */
export type CampaignRun = CampaignRecord & {
  kind: 'campaign' | 'asking' | 'reminder' | 'round';
  reminder: number;
  after_days: number | null;
};

const runs = (sql: Sql, picked: Part) => sql<CampaignRun[]>`
  -- organization: caller
  select item.*, p.kind, p.reminder, p.after_days
  from (select * from campaigns where ${picked}) p
  ${item(sql)}
  order by p.kind <> 'campaign', p.kind, p.reminder, p.created_at desc, p.id desc`;

const maxCampaigns = 20;

/** Lists the newest campaigns of a survey, then its automatic sends. */
export const listRuns = (sql: Sql, { orgId, surveyId }: OrgSurvey) =>
  runs(
    sql,
    sql`org_id = ${orgId} and survey_id = ${surveyId} and (kind <> 'campaign' or id in (
          select id from campaigns
          where org_id = ${orgId} and survey_id = ${surveyId} and kind = 'campaign'
          order by created_at desc, id desc
          limit ${maxCampaigns}))`,
  );

export const findRun = async (sql: Sql, orgId: string, id: string) =>
  (await runs(sql, sql`org_id = ${orgId} and id = ${id}`))[0];

export async function insertBatch(
  sql: Sql,
  { id, orgId, campaignId, mails }: OrgCampaign & { id: string; mails: number },
) {
  await sql`
    insert into campaign_batches (id, org_id, campaign_id, mails)
    values (${id}, ${orgId}, ${campaignId}, ${mails})`;
}

/** Deleting a contact deletes its mail, which then counts as blocked. */
const batchOutcomes = (sql: Sql) => sql`
  select count(*) filter (where m.status = 'sent')::int as sent,
         b.mails - count(*) filter (where not ${isBlocked(sql)})::int as blocked,
         count(*) filter (where m.status = 'unknown' or m.status = 'failed' and not ${isBlocked(sql)})::int as failed,
         count(*) filter (where m.status in ('claimed', 'sending'))::int as open,
         count(*) filter (where m.status in ('claimed', 'sending') and m.reason is not null)::int as delayed,
         max(m.reason) filter (where m.status in ('claimed', 'sending')) as delayed_by
  from mails m
  where m.request_id = b.id and m.org_id = b.org_id`;

/** True if a rule blocked mail `m` after the claim. */
export const isBlocked = (sql: Sql) => sql`
  (m.status = 'failed' and coalesce(m.reason_code, '') = any (${blockReasonCodes}::text[]))`;

/**
 * Stores the counts of batches without open mails, of one campaign or of all. For all, also recounts recent batches: a
 * process that lost its database connection may record a mail as sent later.
 */
export async function endBatches(sql: Sql, campaign?: OrgCampaign) {
  const batches = campaign
    ? sql`
        select * from campaign_batches
        where org_id = ${campaign.orgId} and campaign_id = ${campaign.campaignId} and ended_at is null`
    : sql`
        -- all organizations
        select * from campaign_batches where ended_at is null
        union all
        select * from campaign_batches where ended_at > now() - interval '10 minutes' and failed > 0`;
  await sql`
    -- all organizations
    update campaign_batches e
    set sent = o.sent, blocked = o.blocked, failed = o.failed, ended_at = coalesce(e.ended_at, now())
    from (${batches}) b
    cross join lateral (${batchOutcomes(sql)}) o
    where o.open = 0 and e.id = b.id
      and (e.sent, e.blocked, e.failed) is distinct from (o.sent, o.blocked, o.failed)`;
}

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

export async function findCampaignOfBatch(sql: Sql, orgId: string, batchId: string) {
  const [batch] = await sql<{ campaign_id: string }[]>`
    select campaign_id from campaign_batches where org_id = ${orgId} and id = ${batchId}`;
  return batch?.campaign_id;
}

export type DelayedCampaign = Pick<
  CampaignRecord,
  'id' | 'survey_id' | 'name' | 'status' | 'reason'
>;

const maxDelayed = 5;

/** Campaigns that the service has paused, or whose mails are all delayed. */
export const listDelayed = (sql: Sql, orgId: string) => sql<DelayedCampaign[]>`
  select p.id, p.survey_id, p.name, p.status, coalesce(p.reason, s.delayed_by) as reason
  from campaigns p
  cross join lateral (
    select case when sum(o.open) = sum(o.delayed) then max(o.delayed_by) end as delayed_by
    from campaign_batches b
    cross join lateral (${batchOutcomes(sql)}) o
    where b.org_id = p.org_id and b.campaign_id = p.id and b.ended_at is null
  ) s
  where p.org_id = ${orgId} and p.status in ('running', 'paused')
    and coalesce(p.reason, s.delayed_by) is not null
  order by p.created_at desc, p.id desc
  limit ${maxDelayed}`;

export async function listOpenBatches(sql: Sql, { orgId, campaignId }: OrgCampaign) {
  const batches = await sql<{ id: string }[]>`
    select id
    from campaign_batches
    where org_id = ${orgId} and campaign_id = ${campaignId} and ended_at is null`;
  return batches.map(({ id }) => id);
}

export async function requeue(
  sql: Sql,
  { orgId, campaignId }: OrgCampaign,
  withdrawn: readonly { request_id: string; contact_id: string }[],
) {
  const contactIds = withdrawn.map(({ contact_id }) => contact_id);
  await sql`
    with waiting as (
      update campaign_contacts
      set batch_id = null
      where org_id = ${orgId} and campaign_id = ${campaignId} and contact_id = any (${contactIds}::uuid[])
    ), batches as (
      update campaign_batches b
      set mails = b.mails - w.mails
      from (select id, count(*)::int as mails
            from unnest(${withdrawn.map(({ request_id }) => request_id)}::uuid[]) as id group by id) w
      where b.org_id = ${orgId} and b.campaign_id = ${campaignId} and b.id = w.id
    )
    update campaigns
    set waiting = waiting + ${withdrawn.length}
    where org_id = ${orgId} and id = ${campaignId}`;
}

export type CampaignState = {
  id: string;
  org_id: string;
  survey_id: string;
  kind: CampaignRun['kind'];
  reminder: number;
  status: CampaignRecord['status'];
  send_at: Date | null;
  per_hour: number | null;
  audience: Audience | null;
  month: string | null;
  waiting: number;
  turn: number;
  next_mail_at: Date | null;
  started_at: Date | null;
  send_window: SendWindow | null;
};

type OrgCampaign = { orgId: string; campaignId: string };

/** Lock order: campaign, month, survey, contacts. */
export async function lockCampaign(sql: Sql, { orgId, campaignId }: OrgCampaign) {
  const [campaign] = await sql<CampaignState[]>`
    select c.id, c.org_id, c.survey_id, c.kind, c.reminder, c.status, c.send_at, c.per_hour, c.audience, c.month::text, c.waiting,
           c.turn, c.next_mail_at, c.started_at, s.send_window
    from campaigns c
    join surveys s on s.org_id = c.org_id and s.id = c.survey_id
    where c.org_id = ${orgId} and c.id = ${campaignId}
    for no key update of c`;
  return campaign;
}

export async function insertCampaign(
  sql: Sql,
  {
    audience,
    ...campaign
  }: Pick<
    CampaignState,
    'org_id' | 'survey_id' | 'status' | 'send_at' | 'per_hour' | 'audience'
  > & {
    name: string;
    next_at: Date;
    created_at: Date;
  },
) {
  const row = { ...campaign, ...(audience && { audience: sql.json(audience) }) };
  return one(
    await sql<Pick<CampaignState, 'id' | 'org_id' | 'survey_id' | 'turn' | 'audience'>[]>`
      insert into campaigns ${sql(row as never)}
      returning id, org_id, survey_id, turn, audience`,
  );
}

type CampaignChange = Partial<
  Pick<CampaignState, 'status' | 'month' | 'waiting' | 'turn' | 'next_mail_at' | 'started_at'> & {
    reason: string | null;
    total: number;
    duplicates: number;
    next_at: Date | null;
    finished_at: Date;
  }
>;

export async function changeCampaign(
  sql: Sql,
  { org_id, id }: Pick<CampaignState, 'org_id' | 'id'>,
  change: CampaignChange,
) {
  await sql`update campaigns set ${sql(change)} where org_id = ${org_id} and id = ${id}`;
}

export async function countJudged(
  sql: Sql,
  { org_id, id }: Pick<CampaignState, 'org_id' | 'id'>,
  { claimed, blocked, nextMailAt }: { claimed: number; blocked: number; nextMailAt: Date | null },
) {
  await sql`
    update campaigns
    set waiting = waiting - ${claimed + blocked}, duplicates = duplicates + ${blocked},
        next_mail_at = ${nextMailAt}
    where org_id = ${org_id} and id = ${id}`;
}

export async function renewOverdue(sql: Sql, before: Date) {
  return await sql<{ org_id: string; id: string; turn: number }[]>`
    -- all organizations
    update campaigns
    set turn = turn + 1, next_at = now()
    where id in (
      select id
      from campaigns
      where status in ('scheduled', 'running') and next_at < ${before}
      order by next_at
      limit 100
      for no key update skip locked
    )
    returning org_id, id, turn`;
}

type OfCampaign = OrgSurvey & { campaignId: string };

export type NewCampaignContact = {
  contact_id: string;
  reason_code: string | null;
  reason: string | null;
  batch_id?: string | null;
};

export async function insertCampaignContacts(
  sql: Sql,
  { orgId, surveyId, campaignId }: OfCampaign,
  contacts: readonly NewCampaignContact[],
  at: Date,
) {
  await sql`
    insert into campaign_contacts (org_id, survey_id, campaign_id, contact_id, reason_code, reason, batch_id, created_at)
    select ${orgId}, ${surveyId}, ${campaignId}, contact_id, reason_code, reason, batch_id, ${at}
    from json_to_recordset(${JSON.stringify(contacts)}::text::json)
           as new (contact_id uuid, reason_code text, reason text, batch_id uuid)
    on conflict on constraint campaign_contacts_once do nothing`;
}

export async function listWaiting(
  sql: Sql,
  { orgId, surveyId, campaignId }: OfCampaign,
  atMost: number,
) {
  return await sql<AskableContact[]>`
    select c.id, c.email, c.email_key as key
    from (
      select contact_id
      from campaign_contacts
      where org_id = ${orgId} and campaign_id = ${campaignId} and batch_id is null and reason_code is null
      order by id
      limit ${atMost}
    ) w
    join contacts c on c.org_id = ${orgId} and c.survey_id = ${surveyId} and c.id = w.contact_id`;
}

/** Repeats the campaign id in each row, so that the join uses the unique key of contact and campaign. */
export async function saveDecided(
  sql: Sql,
  { orgId, campaignId }: OrgCampaign,
  decided: readonly NewCampaignContact[],
) {
  const rows = decided.map((each) => ({ ...each, campaign_id: campaignId }));
  await sql`
    update campaign_contacts w
    set batch_id = d.batch_id, reason_code = d.reason_code, reason = d.reason
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
           as d (contact_id uuid, campaign_id uuid, reason_code text, reason text, batch_id uuid)
    where w.contact_id = d.contact_id and w.campaign_id = d.campaign_id and w.org_id = ${orgId}`;
}

export async function blockWaiting(
  sql: Sql,
  { orgId, campaignId }: OrgCampaign,
  { reason_code, reason }: { reason_code: string; reason: string },
) {
  await sql`
    update campaign_contacts
    set reason_code = ${reason_code}, reason = ${reason}
    where org_id = ${orgId} and campaign_id = ${campaignId} and batch_id is null and reason_code is null`;
}

/** The campaign itself keeps its counts. */
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

/** Replaces an erased address with `[email]` in audiences of campaigns. */
export async function hideInCampaigns(
  sql: Sql,
  orgId: string,
  { key, before }: { key: string; before: Date | null },
) {
  await sql`
    update campaigns
    set audience = hide_address(audience::text, ${key})::jsonb
    where org_id = ${orgId} and created_at < coalesce(${before}::timestamptz, 'infinity')
      and audience::text ~* ${addressPattern(key)}`;
}
