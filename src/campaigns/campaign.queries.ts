import type { Sql } from '../lib/db/db.ts';
import { one } from '../lib/db/db.ts';
import type { SendWindow } from '../surveys/asking.schemas.ts';

export type CampaignStatus =
  | 'scheduled'
  | 'running'
  | 'paused'
  | 'finished'
  | 'stopped'
  | 'refused';

/** A campaign as its steps need it. */
export type CampaignState = {
  id: string;
  org_id: string;
  survey_id: string;
  kind: 'campaign' | 'asking' | 'reminder';
  /** Which one it is, for those. */
  reminder: number;
  status: CampaignStatus;
  send_at: Date | null;
  per_hour: number | null;
  month: string | null;
  waiting: number;
  turn: number;
  next_mail_at: Date | null;
  started_at: Date | null;
  send_window: SendWindow | null;
};

export type OrgCampaign = { orgId: string; campaignId: string };

/** The campaign, locked until the caller's transaction ends: before the month, the survey and the contacts. */
export async function lockCampaign(sql: Sql, { orgId, campaignId }: OrgCampaign) {
  const [campaign] = await sql<CampaignState[]>`
    select c.id, c.org_id, c.survey_id, c.kind, c.reminder, c.status, c.send_at, c.per_hour, c.month::text, c.waiting,
           c.turn, c.next_mail_at, c.started_at, s.send_window
    from campaigns c
    join surveys s on s.org_id = c.org_id and s.id = c.survey_id
    where c.org_id = ${orgId} and c.id = ${campaignId}
    for no key update of c`;
  return campaign;
}

export type NewCampaign = {
  survey_id: string;
  name: string;
  status: 'scheduled' | 'running';
  send_at: Date | null;
  per_hour: number | null;
  next_at: Date;
  created_at: Date;
};

export async function insertCampaign(sql: Sql, orgId: string, campaign: NewCampaign) {
  const row = { org_id: orgId, ...campaign };
  return one(await sql<{ id: string }[]>`insert into campaigns ${sql(row)} returning id`).id;
}

/** What a step of a campaign changes. */
export type CampaignChange = Partial<{
  status: CampaignStatus;
  reason: string;
  month: string;
  total: number;
  duplicates: number;
  waiting: number;
  turn: number;
  next_at: Date | null;
  next_mail_at: Date | null;
  started_at: Date;
  finished_at: Date;
}>;

export async function changeCampaign(
  sql: Sql,
  { org_id, id }: Pick<CampaignState, 'org_id' | 'id'>,
  change: CampaignChange,
) {
  await sql`update campaigns set ${sql(change)} where org_id = ${org_id} and id = ${id}`;
}

type JudgedMails = { claimed: number; blocked: number; nextMailAt: Date | null };

/** Counts waiting contacts whose mail was claimed or blocked. */
export async function countJudged(
  sql: Sql,
  { org_id, id }: Pick<CampaignState, 'org_id' | 'id'>,
  { claimed, blocked, nextMailAt }: JudgedMails,
) {
  await sql`
    update campaigns
    set waiting = waiting - ${claimed + blocked}, duplicates = duplicates + ${blocked},
        next_mail_at = ${nextMailAt}
    where org_id = ${org_id} and id = ${id}`;
}

type OverdueCampaign = { org_id: string; campaign_id: string; turn: number };

/** Gives campaigns whose job is long overdue, because it was lost, another turn. */
export async function renewOverdue(sql: Sql, before: Date) {
  return await sql<OverdueCampaign[]>`
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
    returning org_id, id as campaign_id, turn`;
}
