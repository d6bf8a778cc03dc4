import { markSettled } from '../contacts/sending.cte.ts';
import type { Sql } from '../lib/db/db.ts';
import { giveBackUsage } from '../organizations/usage.queries.ts';
import { suppressBounced } from '../suppressions/bounced.cte.ts';

export type SettledMail = {
  id: string;
  org_id: string;
  attempt: number;
  status: 'sent' | 'failed' | 'unknown' | 'claimed';
  reason: string | null;
  reason_code: string | null;
  contact_status: 'sending' | 'sent' | 'failed' | 'bounced' | 'unsubscribed';
  /** Why the contact failed; it did not if its mail was kept back. */
  failure_reason: string | null;
};

/** Locks the months that failed mails are given back to, before their contacts: as a send locks them. */
export async function lockMonths(sql: Sql, ids: readonly string[]) {
  await sql`
    select from mail_usage u
    where exists (
      select from mails s
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
    with written as (
      update mails s
      set status = o.status, reason = o.reason, reason_code = o.reason_code,
          blocks_resend = o.status <> 'failed',
          finished_at = case when o.status <> 'claimed' then now() end
      from unnest(${settled.map(({ id }) => id)}::uuid[],
                  ${settled.map(({ org_id }) => org_id)}::uuid[],
                  ${settled.map(({ attempt }) => attempt)}::smallint[],
                  ${settled.map(({ status }) => status)}::text[],
                  ${settled.map(({ reason }) => reason)}::text[],
                  ${settled.map(({ reason_code }) => reason_code)}::text[],
                  ${settled.map(({ contact_status }) => contact_status)}::text[],
                  ${settled.map(({ failure_reason }) => failure_reason)}::text[])
        as o (id, org_id, attempt, status, reason, reason_code, contact_status, failure_reason)
      where s.org_id = o.org_id and s.id = o.id and s.attempts = o.attempt
        and (s.status = 'sending' or (s.status = 'unknown' and o.status <> 'claimed')
             or (s.status = 'claimed' and o.status = 'failed'))
      returning s.org_id, s.contact_id, s.email, s.month, s.status, s.reason,
                o.contact_status, o.failure_reason
    ), marked as (
      ${markSettled(
        sql,
        sql`select org_id, contact_id, contact_status, failure_reason,
                   case when status = 'sent' then now() end
            from written
            where status <> 'claimed'`,
      )}
    ), given_back as (
      ${giveBackUsage(
        sql,
        sql`select org_id, month, count(*) from written where status = 'failed' group by 1, 2`,
      )}
    )
    ${suppressBounced(
      sql,
      sql`select org_id, email, reason from written where contact_status = 'bounced'`,
    )}`;
}

/** A mail that came to its end without an attempt of ours. */
export type EndedMail = {
  id: string;
  org_id: string;
  survey_id: string;
  attempts: number;
  traceparent: string | null;
  claimed_ms_ago: number;
};

export const endedMail = (sql: Sql) => sql`
  id, org_id, survey_id, attempts, traceparent,
  (extract(epoch from now() - claimed_at) * 1000)::float8 as claimed_ms_ago`;

/**
 * The mails of a job that an earlier run of it had begun: it died between the first byte and our
 * record, so whether they arrived is unknown.
 */
export async function giveUpBegun(sql: Sql, orgId: string, ids: readonly string[], reason: string) {
  return await sql<EndedMail[]>`
    with begun as (
      update mails s
      set status = 'unknown', reason = ${reason}, reason_code = 'unknown_outcome', finished_at = now()
      from unnest(${ids.map(() => orgId)}::uuid[], ${[...ids]}::uuid[]) as m (org_id, id)
      where s.org_id = m.org_id and s.id = m.id and s.status = 'sending'
      returning s.*
    ), marked as (
      ${markSettled(sql, sql`select org_id, contact_id, 'failed', ${reason}::text, null::timestamptz from begun`)}
    )
    select ${endedMail(sql)} from begun`;
}

/** Takes back what a request has claimed and nobody has begun, when its time is over. */
export async function cancelClaims(sql: Sql, orgId: string, requestId: string, reason: string) {
  return await sql<EndedMail[]>`
    with cancelled as (
      update mails
      set status = 'failed', blocks_resend = false, reason = ${reason}, reason_code = 'deadline',
          finished_at = now()
      where org_id = ${orgId} and request_id = ${requestId} and status = 'claimed'
      returning *
    ), marked as (
      ${markSettled(sql, sql`select org_id, contact_id, 'failed', ${reason}::text, null::timestamptz from cancelled`)}
    ), given_back as (
      ${giveBackUsage(sql, sql`select org_id, month, count(*) from cancelled group by 1, 2`)}
    )
    select ${endedMail(sql)} from cancelled`;
}

/** Of all organizations, for a restored deployment: what was claimed or begun is not known to be unsent. */
export async function giveUpUnsettled(sql: Sql, reason: string) {
  await sql`
    with unsettled as (
      update mails
      set status = 'unknown', reason = ${reason}, reason_code = 'unknown_outcome', finished_at = now()
      where status in ('claimed', 'sending')
      returning org_id, contact_id
    )
    ${markSettled(sql, sql`select org_id, contact_id, 'failed', ${reason}::text, null::timestamptz from unsettled`)}`;
}
