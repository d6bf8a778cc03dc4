import { markSending, markSettled } from '../contacts/sending.cte.ts';
import { giveBack } from '../organizations/usage.cte.ts';
import type { Sql } from '../platform/db.ts';
import type { SurveyType } from '../scores.ts';

/** A claimed mail with all that it takes to write it. */
export type ClaimedMail = {
  id: string;
  org_id: string;
  survey_id: string;
  contact_id: string;
  request_id: string;
  email: string;
  name: string | null;
  token: string;
  attempts: number;
  traceparent: string | null;
  claimed_ms_ago: number;
  survey: {
    type: SurveyType;
    audience: 'employee' | null;
    name: string;
    question_text: string;
    subject: string | null;
    language: string;
    from_name: string;
    from_email: string;
    reply_to: string;
  };
  organization: { name: string; color: string };
};

export async function listClaimed(sql: Sql, orgId: string, ids: readonly string[]) {
  return await sql<ClaimedMail[]>`
    select s.id, s.org_id, s.survey_id, s.contact_id, s.request_id, s.email, s.attempts, s.traceparent,
           (extract(epoch from now() - s.claimed_at) * 1000)::float8 as claimed_ms_ago, c.name, c.token,
           json_build_object('type', v.type, 'audience', v.audience, 'name', v.name,
                             'question_text', v.question_text, 'subject', v.subject,
                             'language', v.language, 'from_name', v.from_name,
                             'from_email', v.from_email, 'reply_to', v.reply_to) as survey,
           json_build_object('name', o.name, 'color', o.color) as organization
    from sends s
    join contacts c on c.org_id = s.org_id and c.survey_id = s.survey_id and c.id = s.contact_id
    join surveys v on v.org_id = s.org_id and v.id = s.survey_id
    join organizations o on o.id = s.org_id
    where s.org_id = ${orgId} and s.id = any (${[...ids]}::uuid[]) and s.status = 'claimed'`;
}

/**
 * The mails of a job that an earlier run of it had begun: it died between the first byte and our
 * record, so whether they arrived is unknown.
 */
export async function giveUpBegun(sql: Sql, orgId: string, ids: readonly string[], reason: string) {
  return await sql<{ request_id: string }[]>`
    with begun as (
      update sends
      set status = 'unknown', reason = ${reason}, reason_code = 'unknown_outcome', settled_at = now()
      where org_id = ${orgId} and id = any (${[...ids]}::uuid[]) and status = 'sending'
      returning org_id, contact_id, request_id
    ), marked as (
      ${markSettled(sql, sql`select org_id, contact_id, 'failed', ${reason}::text, null::timestamptz from begun`)}
    )
    select request_id from begun`;
}

/**
 * Says "sending" before the first byte goes out; gives back those that still may go, each with the
 * number of this attempt: an outcome is only written for the attempt that it is the outcome of.
 */
export async function beginMails(sql: Sql, mails: readonly { org_id: string; id: string }[]) {
  return await sql<{ id: string; attempts: number }[]>`
    with begun as (
      update sends s
      set status = 'sending', sending_at = now(), attempts = s.attempts + 1
      from unnest(${mails.map(({ org_id }) => org_id)}::uuid[],
                  ${mails.map(({ id }) => id)}::uuid[]) as m (org_id, id)
      where s.org_id = m.org_id and s.id = m.id and s.status = 'claimed'
      returning s.id, s.org_id, s.contact_id, s.attempts
    ), marked as (
      ${markSending(sql, sql`select org_id, contact_id from begun`)}
    )
    select id, attempts from begun`;
}

export type SettledMail = {
  id: string;
  org_id: string;
  attempt: number;
  status: 'sent' | 'failed' | 'unknown' | 'claimed';
  contact_status: 'sent' | 'failed' | 'bounced' | 'pending';
  reason: string | null;
  bounced: boolean;
};

/** Locks the months that failed mails are given back to, before their contacts: as a send locks them. */
export async function lockMonths(sql: Sql, ids: readonly string[]) {
  await sql`
    select from send_usage u
    where exists (
      select from sends s
      where s.id = any (${[...ids]}::uuid[]) and s.org_id = u.org_id and s.month = u.month
    )
    order by u.org_id, u.month
    for no key update`;
}

/**
 * Writes outcomes: to the mail, to its contact, back to the month's quota what failed, and to the
 * suppressions an address that does not exist. A mail that may be tried again is claimed again, and one
 * that never left can fail from there.
 */
export async function settleMails(sql: Sql, settled: readonly SettledMail[]) {
  await sql`
    with outcome as (
      select *
      from json_to_recordset(${JSON.stringify(settled)}::text::json) as o (
        id uuid, org_id uuid, attempt smallint, status text, contact_status text, reason text, bounced boolean)
    ), written as (
      update sends s
      set status = o.status, reason = o.reason,
          reason_code = case o.status when 'unknown' then 'unknown_outcome'
                                      when 'failed' then 'refused' end,
          settled_at = case when o.status <> 'claimed' then now() end
      from outcome o
      where s.org_id = o.org_id and s.id = o.id and s.attempts = o.attempt
        and (s.status = 'sending' or (s.status = 'unknown' and o.status <> 'claimed')
             or (s.status = 'claimed' and o.status = 'failed'))
      returning s.org_id, s.contact_id, s.email, s.month, s.status, o.contact_status, o.reason, o.bounced
    ), marked as (
      ${markSettled(
        sql,
        sql`select org_id, contact_id, contact_status, reason, case when status = 'sent' then now() end
            from written`,
      )}
    ), given_back as (
      ${giveBack(
        sql,
        sql`select org_id, month, count(*) from written where status = 'failed' group by 1, 2`,
      )}
    )
    insert into suppressions (org_id, email, kind, detail)
    select distinct on (org_id, lower(email)) org_id, lower(email), 'bounced', reason
    from written
    where bounced
    on conflict do nothing`;
}

/** Takes back what a request has claimed and nobody has begun, when its time is over. */
export async function cancelClaims(sql: Sql, orgId: string, requestId: string, reason: string) {
  await sql`
    with cancelled as (
      update sends
      set status = 'failed', reason = ${reason}, reason_code = 'deadline', settled_at = now()
      where org_id = ${orgId} and request_id = ${requestId} and status = 'claimed'
      returning org_id, contact_id, month
    ), marked as (
      ${markSettled(sql, sql`select org_id, contact_id, 'failed', ${reason}::text, null::timestamptz from cancelled`)}
    )
    ${giveBack(sql, sql`select org_id, month, count(*) from cancelled group by 1, 2`)}`;
}

/** Of all organizations, for a restored deployment: what was claimed or begun is not known to be unsent. */
export async function giveUpUnsettled(sql: Sql, reason: string) {
  await sql`
    with unsettled as (
      update sends
      set status = 'unknown', reason = ${reason}, reason_code = 'unknown_outcome', settled_at = now()
      where status in ('claimed', 'sending')
      returning org_id, contact_id
    )
    ${markSettled(sql, sql`select org_id, contact_id, 'failed', ${reason}::text, null::timestamptz from unsettled`)}`;
}
