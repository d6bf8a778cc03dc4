import type { Sql } from '../lib/db/db.ts';
import { likePattern } from '../lib/db/like-pattern.ts';
import type { Page } from '../lib/paging/page.ts';
import { newest, pagedJson } from '../lib/paging/paged-json.ts';
import type { OrgId } from '../org-id.ts';
import { isBlocked } from './batch.queries.ts';

/** What can become of a contact. */
export const resultStatuses = ['waiting', 'sent', 'duplicate', 'invalid', 'failed'] as const;
export type ResultStatus = (typeof resultStatuses)[number];

/** A result of a campaign for one contact. */
export type CampaignResult = {
  contact_id: string;
  email: string;
  status: ResultStatus;
  reason: string | null;
  reason_code: string | null;
  at: string | null;
};

/** What became of each contact `p` of a campaign `g`. */
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

/** The mail `m` of a contact `p`, if there is one. */
const mailOf = (sql: Sql) => sql`
  left join mails m on m.contact_id = p.contact_id and m.request_id = p.batch_id and m.org_id = p.org_id`;

const statusOf = (sql: Sql) => sql`
  case when p.reason_code is not null or ${isBlocked(sql)} then 'duplicate'
       when p.batch_id is null or m.status in ('claimed', 'sending') then 'waiting'
       when m.status = 'sent' or m.id is null then 'sent'
       else 'failed' end`;

export type ResultFilter = { search?: string | undefined; status?: ResultStatus | undefined };

type CampaignPage = ResultFilter & { campaignId: string; page: Page };

/** The results of a campaign by contact, or of those that a filter leaves. Null without such a campaign. */
export function listResults(sql: Sql, orgId: OrgId, wish: CampaignPage) {
  const { campaignId, page, search, status } = wish;
  const found = search ? sql`and contact_id in (${matchingContacts(sql, orgId, search)})` : sql``;
  const ofStatus = status ? sql`and id in (${idsOf(sql, orgId, { campaignId, status })})` : sql``;
  const rows = sql`campaign_contacts where org_id = ${orgId} and campaign_id = ${campaignId} ${found} ${ofStatus}`;
  const list = pagedJson(sql, {
    picked: newest(sql, { rows }, page),
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

type WithStatus = { campaignId: string; status: ResultStatus };

const idsOf = (sql: Sql, orgId: OrgId, { campaignId, status }: WithStatus) => sql`
  select p.id
  from campaign_contacts p
  ${mailOf(sql)}
  where p.org_id = ${orgId} and p.campaign_id = ${campaignId} and ${statusOf(sql)} = ${status}`;

/** By the index of the contacts that are searched. */
const matchingContacts = (sql: Sql, orgId: OrgId, search: string) => sql`
  select s.id
  from contacts s
  where s.org_id = ${orgId}
    and (s.email || ' ' || coalesce(s.name, '')) ilike ${likePattern(search)}`;

type ResultsAfter = { orgId: string; campaignId: string; after: string | null; atMost: number };

/** The same in parts, for a file: after one of them. */
export const nextResults = (sql: Sql, { orgId, campaignId, after, atMost }: ResultsAfter) => sql<
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
    limit ${atMost}
  ) p
  ${resultItem(sql)}
  order by p.created_at desc, p.id desc`;
