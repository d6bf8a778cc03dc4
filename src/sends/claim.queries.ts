import { one, type Sql } from '../lib/db/db.ts';
import type { AddressFacts } from './rules.ts';

type OrgSurvey = { orgId: string; surveyId: string };

/**
 * Everything the rules need to know about addresses, in one statement. Mails are found by scalar subqueries: a plan
 * made while the table was small, or before it was analyzed, must not read all mails of a survey.
 */
export async function loadFacts(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  { keys, frequencyDays }: { keys: readonly string[]; frequencyDays: number | null },
) {
  return await sql<AddressFacts[]>`
    select a.key,
           (select status from mails
            where org_id = ${orgId} and survey_id = ${surveyId} and email_key = a.key and reminder = 0
              and blocks_resend) as claim,
           c.id is not null and (c.sent_at is not null or c.responded_at is not null) as mailed_or_answered,
           exists (select from suppressions
                   where org_id = ${orgId} and email = a.key and kind = 'unsubscribed') as unsubscribed,
           exists (select from suppressions
                   where org_id = ${orgId} and email = a.key and kind = 'bounced') as bounced,
           (select exists (select from erasures where org_id = ${orgId} and allowed_at is null))
             and exists (select from erasures
                         where org_id = ${orgId} and address_hash = address_hash(${orgId}, a.key)
                           and allowed_at is null) as erased,
           recent.at as recent_at
    from unnest(${[...keys]}::text[]) as a (key)
    left join contacts c
      on c.org_id = ${orgId} and c.survey_id = ${surveyId} and c.email_key = a.key
    left join lateral (
      select max(coalesce(finished_at, claimed_at)) as at
      from mails
      where org_id = ${orgId} and email_key = a.key and reminder = 0 and blocks_resend
        and claimed_at > now() - make_interval(days => ${frequencyDays}::int)
    ) recent on true`;
}

export type NewClaim = { contact_id: string; email: string; reminds_of?: string };
export type NewMails = {
  requestId: string;
  month: string;
  traceparent: string | null;
  /** Whether a request waits for their outcomes. */
  awaited: boolean;
  /** 0 unless these are reminders. */
  reminder: number;
  claims: readonly NewClaim[];
};
export type ClaimRow = { id: string; contact_id: string; email: string };

/**
 * Claims the addresses for one request or one part of a campaign. If another request has claimed an address first, it gets no row
 * here: the unique index is the duplicate protection.
 */
export async function insertClaims(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  { claims, requestId, month, traceparent, awaited, reminder }: NewMails,
) {
  return await sql<ClaimRow[]>`
    insert into mails (org_id, survey_id, contact_id, email, reminds_of, request_id, month, traceparent,
                       awaited, reminder)
    select ${orgId}, ${surveyId}, contact_id, email, reminds_of, ${requestId}, ${month}::date,
           ${traceparent}, ${awaited}, ${reminder}
    from unnest(${claims.map(({ contact_id }) => contact_id)}::uuid[],
                ${claims.map(({ email }) => email)}::text[],
                ${claims.map(({ reminds_of }) => reminds_of ?? null)}::uuid[])
           as c (contact_id, email, reminds_of)
    order by lower(email)
    on conflict do nothing
    returning id, contact_id, email`;
}

export type BlockedMail = { email: string; reason_code: string; reason: string };

/** Keeps which mails a rule blocked, once a day, for the question why an address got none. */
export async function insertBlocked(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  blocked: readonly BlockedMail[],
) {
  await sql`
    insert into blocked_mails (org_id, survey_id, email, reason_code, reason)
    select ${orgId}, ${surveyId}, email, reason_code, reason
    from json_to_recordset(${JSON.stringify(blocked)}::text::json)
      as b (email text, reason_code text, reason text)
    order by email
    on conflict do nothing`;
}

export type SendResult = {
  key: string;
  status: 'claimed' | 'sending' | 'sent' | 'failed' | 'unknown';
  reason: string | null;
  reason_code: string | null;
};

/** How many mails of a request have no outcome yet, and when all of them have one, their outcomes. */
export async function lookAtMails(sql: Sql, orgId: string, requestId: string) {
  return one(
    await sql<{ open: number; results: SendResult[] | null }[]>`
      select open, case when open = 0 then (
               select coalesce(json_agg(json_build_object('key', email_key, 'status', status, 'reason', reason,
                                                          'reason_code', reason_code)), '[]')
               from mails
               where org_id = ${orgId} and request_id = ${requestId}
             ) end as results
      from (
        select count(*)::int as open
        from mails
        where org_id = ${orgId} and request_id = ${requestId} and status in ('claimed', 'sending')
      ) looked`,
  );
}

/** The status of each mail of a request. */
export async function listResults(sql: Sql, orgId: string, requestId: string) {
  return await sql<SendResult[]>`
    select email_key as key, status, reason, reason_code
    from mails
    where org_id = ${orgId} and request_id = ${requestId}`;
}
