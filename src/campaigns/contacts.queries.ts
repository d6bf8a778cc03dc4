import { one, type Sql } from '../lib/db/db.ts';
import type { AskableContact } from './judge.queries.ts';

type OfCampaign = { orgId: string; surveyId: string; campaignId: string };

export type NewCampaignContact = {
  contact_id: string;
  reason_code: string | null;
  reason: string | null;
  batch_id?: string | null;
};

/** Adds contacts as they were judged; one that the campaign has already is left alone. */
export async function insertCampaignContacts(
  sql: Sql,
  { orgId, surveyId, campaignId }: OfCampaign,
  contacts: readonly NewCampaignContact[],
) {
  await sql`
    insert into campaign_contacts (org_id, survey_id, campaign_id, contact_id, reason_code, reason, batch_id)
    select ${orgId}, ${surveyId}, ${campaignId}, contact_id, reason_code, reason, batch_id
    from unnest(${contacts.map(({ contact_id }) => contact_id)}::uuid[],
                ${contacts.map(({ reason_code }) => reason_code)}::text[],
                ${contacts.map(({ reason }) => reason)}::text[],
                ${contacts.map(({ batch_id }) => batch_id ?? null)}::uuid[])
           as given (contact_id, reason_code, reason, batch_id)
    on conflict on constraint campaign_contacts_once do nothing`;
}

/** Contacts of a campaign whose mail waits. */
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

type Decided = {
  contact_id: string;
  batch_id: string | null;
  reason_code: string | null;
  reason: string | null;
};

/** Notes which waiting contacts were claimed with a batch, and which a rule blocked. Joined by their keys, as mails are. */
export async function saveDecided(
  sql: Sql,
  { orgId, campaignId }: Pick<OfCampaign, 'orgId' | 'campaignId'>,
  decided: readonly Decided[],
) {
  await sql`
    update campaign_contacts w
    set batch_id = d.batch_id, reason_code = d.reason_code, reason = d.reason
    from unnest(${decided.map(({ contact_id }) => contact_id)}::uuid[],
                ${decided.map(({ batch_id }) => batch_id)}::uuid[],
                ${decided.map(({ reason_code }) => reason_code)}::text[],
                ${decided.map(({ reason }) => reason)}::text[],
                ${decided.map(() => campaignId)}::uuid[])
           as d (contact_id, batch_id, reason_code, reason, campaign_id)
    where w.contact_id = d.contact_id and w.campaign_id = d.campaign_id and w.org_id = ${orgId}`;
}

/** Lets contacts whose mails were withdrawn wait again. */
export async function waitAgain(
  sql: Sql,
  { orgId, campaignId }: Pick<OfCampaign, 'orgId' | 'campaignId'>,
  contactIds: readonly string[],
) {
  await sql`
    update campaign_contacts
    set batch_id = null
    where org_id = ${orgId} and campaign_id = ${campaignId} and contact_id = any (${[...contactIds]}::uuid[])`;
}

/** Blocks all contacts that wait, for one reason. */
export async function blockWaiting(
  sql: Sql,
  { orgId, campaignId }: Pick<OfCampaign, 'orgId' | 'campaignId'>,
  { reason_code, reason }: { reason_code: string; reason: string },
) {
  await sql`
    update campaign_contacts
    set reason_code = ${reason_code}, reason = ${reason}
    where org_id = ${orgId} and campaign_id = ${campaignId} and batch_id is null and reason_code is null`;
}

/** How many contacts a survey has. */
export async function countContacts(sql: Sql, { orgId, surveyId }: Omit<OfCampaign, 'campaignId'>) {
  const { contacts } = one(
    await sql<{ contacts: number }[]>`
      select coalesce(sum(contacts), 0)::int as contacts
      from survey_tallies
      where org_id = ${orgId} and survey_id = ${surveyId}`,
  );
  return contacts;
}
