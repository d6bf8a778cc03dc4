import { likePattern, type Sql } from '../lib/db/db.ts';
import { csvLine } from '../lib/export/export.ts';
import { type Page, pagedJson, pickPage } from '../lib/paging/page.ts';
import type { OrgId } from '../limits.ts';
import { isBlocked } from './queries.ts';

const head = ['email', 'status', 'reason', 'reason_code', 'at'];

/** Reads in pages, so that a slow client holds no connection. */
export async function* exportResults(sql: Sql, orgId: string, campaignId: string) {
  yield csvLine(head);
  for await (const results of eachResults(sql, orgId, campaignId)) {
    yield results
      .map(({ email, status, reason, reason_code, at }) =>
        csvLine([email, status, reason, reason_code, at]),
      )
      .join('');
  }
}

export async function* eachResults(sql: Sql, orgId: string, campaignId: string, atOnce = 1000) {
  for (let after: string | null = null; ; ) {
    const rows: (CampaignResult & { row_id: string })[] = await sql<
      (CampaignResult & { row_id: string })[]
    >`
      -- organization: caller
      select item.*, p.id as row_id
      from (
        select *
        from campaign_contacts
        where org_id = ${orgId} and campaign_id = ${campaignId}
          and (${after}::uuid is null
               or (created_at, id) < (select created_at, id from campaign_contacts where id = ${after}::uuid))
        order by created_at desc, id desc
        limit ${atOnce}
      ) p
      ${resultItem(sql)}
      order by p.created_at desc, p.id desc`;
    yield rows.map(({ row_id: _, ...result }) => result);
    if (rows.length < atOnce) return;
    after = rows.at(-1)!.row_id;
  }
}

export const resultStatuses = ['waiting', 'sent', 'duplicate', 'invalid', 'failed'] as const;
export type ResultStatus = (typeof resultStatuses)[number];

export type CampaignResult = {
  contact_id: string;
  email: string;
  status: ResultStatus;
  reason: string | null;
  reason_code: string | null;
  at: string | null;
};

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
  const list = pagedJson(sql, {
    picked: pickPage(sql, { rows }, page),
    item: resultItem(sql),
    total: sql`select count(*) from ${rows}`,
    page,
  });
  return sql`(
    select ${list}
    from campaigns
    where org_id = ${orgId} and id = ${campaignId}
  )`;
}
