import { likePattern, type Sql } from '../lib/db/db.ts';
import {
  csvLine,
  type ExportColumn,
  exportLine,
  linesOfRange,
  pickRange,
  readLines,
  readRanges,
} from '../lib/export/export.ts';
import { type Page, pagedJson } from '../lib/paging/page.ts';
import type { OrgId } from '../limits.ts';
import type { Category } from '../survey-types.ts';
import { isBlocked } from './queries.ts';

/** Reads in ranges, so that a slow client holds no connection. */
export async function* exportResults(sql: Sql, orgId: OrgId, campaignId: string) {
  const columns: ExportColumn[] = [
    { name: 'email', value: sql`item.email`, csv: 'text' },
    { name: 'status', value: sql`item.status` },
    { name: 'reason', value: sql`item.reason`, csv: 'text' },
    { name: 'reason_code', value: sql`item.reason_code` },
    { name: 'at', value: sql`item.at` },
  ];
  const rows = sql`campaign_contacts where org_id = ${orgId} and campaign_id = ${campaignId}`;
  yield csvLine(columns.map(({ name }) => name));
  yield* readRanges((after) =>
    readLines(sql`
      with ${pickRange(sql, rows, after)}
      select ${linesOfRange(sql, exportLine(sql, 'csv', columns))}
      from picked p
      ${resultItem(sql)}`),
  );
}

export const resultStatuses = ['waiting', 'sent', 'duplicate', 'invalid', 'failed'] as const;
export type ResultStatus = (typeof resultStatuses)[number];

/** Counting reads every row of a campaign, so larger ones are not counted. */
const maxCounted = 20_000;

export type ResultCount = {
  status: ResultStatus;
  reason_code: string | null;
  people: number;
  bounced: number;
  responded: number;
};

/** Null for large campaigns. */
export async function countResults(
  sql: Sql,
  orgId: string,
  { id, total }: { id: string; total: number },
) {
  if (total > maxCounted) return null;
  return await sql<ResultCount[]>`
    select item.status, item.reason_code, count(*)::int as people,
           count(*) filter (where c.status = 'bounced')::int as bounced,
           count(c.responded_at)::int as responded
    from (select * from campaign_contacts where org_id = ${orgId} and campaign_id = ${id}) p
    ${resultItem(sql)}
    group by item.status, item.reason_code
    order by people desc, item.reason_code`;
}

export type FirstResponse = {
  id: string;
  score: number;
  category: Category;
  comment: string | null;
  created_at: Date;
  contact_name: string | null;
  contact_email: string;
};

/**
 * The first responses to a campaign. Searches only the first 200 responses to the survey since the start of the
 * campaign.
 */
export const firstResponses = (
  sql: Sql,
  orgId: string,
  { id, survey_id, started_at }: { id: string; survey_id: string; started_at: string | null },
) => sql<FirstResponse[]>`
  select r.id, r.score, r.category, r.comment, r.created_at, c.name as contact_name, c.email as contact_email
  from (
    select *
    from responses
    where org_id = ${orgId} and survey_id = ${survey_id} and held_reason is null and created_at >= ${started_at}
    order by created_at, id
    limit 200
  ) r
  join campaign_contacts p on p.contact_id = r.contact_id and p.campaign_id = ${id} and p.org_id = ${orgId}
  join contacts c on c.id = r.contact_id and c.org_id = ${orgId}
  where p.batch_id is not null
  order by r.created_at, r.id
  limit 3`;

const resultItem = (sql: Sql) => sql`
  join campaigns g on g.id = p.campaign_id and g.org_id = p.org_id
  join contacts c on c.org_id = p.org_id and c.survey_id = p.survey_id and c.id = p.contact_id
  ${mailOf(sql)}
  cross join lateral (select ${statusOf(sql)} as status) r
  cross join lateral (
    select r.status = 'waiting' and p.batch_id is null and g.status = 'stopped' as stopped
  ) x
  cross join lateral (
    select p.contact_id, c.email, r.status,
           case when x.stopped then 'the campaign was stopped before this mail'
                when r.status not in ('waiting', 'sent') then coalesce(p.reason, m.reason) end as reason,
           case when x.stopped then 'stopped'
                when r.status not in ('waiting', 'sent') then coalesce(p.reason_code, m.reason_code) end as reason_code,
           iso(case when r.status <> 'waiting' then coalesce(m.finished_at, p.created_at) end) as at
  ) item`;

const mailOf = (sql: Sql) => sql`
  left join mails m on m.contact_id = p.contact_id and m.request_id = p.batch_id and m.org_id = p.org_id`;

const statusOf = (sql: Sql) => sql`
  case when p.reason_code is not null or ${isBlocked(sql)} then 'duplicate'
       when p.batch_id is null or m.status in ('claimed', 'sending') then 'waiting'
       when m.status = 'sent' or m.id is null then 'sent'
       else 'failed' end`;

type CampaignPage = {
  campaignId: string;
  page: Page;
  search?: string | undefined;
  status?: ResultStatus | undefined;
};

/** Null if the organization has no such campaign. */
export function listResults(
  sql: Sql,
  orgId: OrgId,
  { campaignId, page, search, status }: CampaignPage,
) {
  const matching = sql`
    select s.id
    from contacts s
    where s.org_id = ${orgId}
      and (s.email || ' ' || coalesce(s.name, '')) ilike ${likePattern(search ?? '')}`;
  const ofStatus = sql`
    select p.id
    from campaign_contacts p
    ${mailOf(sql)}
    where p.org_id = ${orgId} and p.campaign_id = ${campaignId} and ${statusOf(sql)} = ${status ?? ''}`;
  const rows = sql`campaign_contacts where org_id = ${orgId} and campaign_id = ${campaignId}
    ${search ? sql`and contact_id in (${matching})` : sql``}
    ${status ? sql`and id in (${ofStatus})` : sql``}`;
  const list = pagedJson(sql, page, { rows, item: resultItem(sql) });
  return sql`(
    select ${list}
    from campaigns
    where org_id = ${orgId} and id = ${campaignId}
  )`;
}
