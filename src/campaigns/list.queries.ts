import { one, type Part, type Sql } from '../lib/db/db.ts';
import type { Page } from '../lib/paging/page.ts';
import { newest, oneJson, pagedJson } from '../lib/paging/paged-json.ts';
import type { OrgId } from '../org-id.ts';
import { batchOutcomes } from './batch.queries.ts';
import type { CampaignStatus } from './campaign.queries.ts';

/** A campaign under its public names. */
export type CampaignRecord = {
  id: string;
  survey_id: string;
  name: string;
  status: CampaignStatus;
  send_at: string | null;
  per_hour: number | null;
  total: number;
  sent: number;
  duplicates: number;
  invalid: number;
  failed: number;
  remaining: number;
  reason: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
};

const sumOf = (sql: Sql) => sql`
  cross join lateral (
    select coalesce(sum(coalesce(b.sent, live.sent)), 0)::int       as sent,
           coalesce(sum(coalesce(b.blocked, live.blocked)), 0)::int as blocked,
           coalesce(sum(coalesce(b.failed, live.failed)), 0)::int   as failed,
           coalesce(sum(live.open), 0)::int                         as open
    from campaign_batches b
    left join lateral (${batchOutcomes(sql)}) live on b.ended_at is null
    where b.campaign_id = p.id and b.org_id = p.org_id
  ) s`;

const item = (sql: Sql) => sql`
  ${sumOf(sql)}
  cross join lateral (
    select p.id, p.survey_id, p.name, p.status, iso(p.send_at) as send_at, p.per_hour, p.total, s.sent,
           p.duplicates + s.blocked as duplicates, p.invalid, s.failed, p.waiting + s.open as remaining,
           p.reason, iso(p.created_at) as created_at, iso(p.started_at) as started_at,
           iso(p.finished_at) as finished_at
  ) item`;

/** The campaigns of a survey, newest first. Null if the organization has no such survey. */
export function listCampaigns(sql: Sql, orgId: OrgId, { surveyId, page }: SurveyPage) {
  const rows = sql`campaigns where org_id = ${orgId} and survey_id = ${surveyId} and kind = 'campaign'`;
  const list = pagedJson(sql, {
    picked: newest(sql, { rows }, page),
    item: item(sql),
    total: sql`select count(*) from ${rows}`,
    page,
  });
  return sql`(
    select ${list}
    from surveys
    where org_id = ${orgId} and id = ${surveyId}
  )`;
}

type SurveyPage = { surveyId: string; page: Page };

export const campaignJson = (sql: Sql, orgId: OrgId, id: string): Part =>
  oneJson(sql, {
    row: sql`campaigns where org_id = ${orgId} and id = ${id} and kind = 'campaign'`,
    item: item(sql),
  });

export async function findCampaign(sql: Sql, orgId: string, id: string) {
  const { json } = one(
    await sql<{ json: string | null }[]>`select ${campaignJson(sql, orgId, id)} as json`,
  );
  return json === null ? undefined : (JSON.parse(json) as { data: CampaignRecord }).data;
}

/** All of them, for the command line. */
export async function allCampaigns(sql: Sql, orgId: string, surveyId: string) {
  return await sql<CampaignRecord[]>`
    select item.*
    from campaigns p
    ${item(sql)}
    where p.org_id = ${orgId} and p.survey_id = ${surveyId} and p.kind = 'campaign'
    order by p.created_at desc, p.id desc`;
}

/** The last of them, for a screen. */
export async function latestCampaigns(
  sql: Sql,
  { orgId, surveyId }: { orgId: string; surveyId: string },
  atMost: number,
) {
  return await sql<CampaignRecord[]>`
    select item.*
    from (
      select *
      from campaigns
      where org_id = ${orgId} and survey_id = ${surveyId} and kind = 'campaign'
      order by created_at desc, id desc
      limit ${atMost}
    ) p
    ${item(sql)}
    order by p.created_at desc, p.id desc`;
}

/** What a survey does by itself, and campaigns, for a screen. */
export type CampaignRun = CampaignRecord & {
  kind: 'campaign' | 'asking' | 'reminder';
  reminder: number;
  after_days: number | null;
};

const runItem = (sql: Sql) => sql`
  ${item(sql)}
  cross join lateral (select p.kind, p.reminder, p.after_days) run`;

/** What a survey does by itself: it asks, and reminds. */
export async function listRunsByItself(sql: Sql, { orgId, surveyId }: OrgSurveyIds) {
  return await sql<CampaignRun[]>`
    select item.*, run.*
    from campaigns p
    ${runItem(sql)}
    where p.org_id = ${orgId} and p.survey_id = ${surveyId} and p.kind <> 'campaign'
    order by p.kind, p.reminder`;
}

type OrgSurveyIds = { orgId: string; surveyId: string };

export async function findRun(sql: Sql, orgId: string, id: string) {
  const [run] = await sql<CampaignRun[]>`
    select item.*, run.*
    from campaigns p
    ${runItem(sql)}
    where p.org_id = ${orgId} and p.id = ${id}`;
  return run;
}

/** The command line owns the deployment: it names a campaign by its id alone. */
export async function findOrganizationOfCampaign(sql: Sql, id: string) {
  const [found] = await sql<{ org_id: string }[]>`
    -- all organizations
    select org_id from campaigns where id = ${id} and kind = 'campaign'`;
  return found?.org_id;
}
