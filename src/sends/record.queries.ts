import { markOutcome } from '../contacts/sending.cte.ts';
import { lockTimeout, type Sql } from '../lib/db/db.ts';
import { giveBackUsage } from '../organizations/usage.queries.ts';
import { suppressBounced } from '../suppressions/bounced.cte.ts';
import type { OutcomeRow } from './outcome.rules.ts';

/** Locks the months that get failed mails back, before the contacts: in the order in which a send locks them. */
export async function lockMonths(sql: Sql, ids: readonly string[], lockMs = 0) {
  await sql`
    with patience as (${lockTimeout(sql, lockMs)})
    select from patience, mail_usage u
    where exists (
      select from mails s
      where s.id = any (${[...ids]}::uuid[]) and s.org_id = u.org_id and s.month = u.month
    )
    order by u.org_id, u.month
    for no key update of u`;
}

/**
 * Saves outcomes in the mails and in their contacts. A failed mail goes back to the month's quota, and an
 * address that does not exist is suppressed. A mail that may be tried again is claimed again; a mail that
 * never left can fail while it is claimed. It fails when a lock is not free within `lockMs`; 0 waits.
 */
export async function saveOutcomes(sql: Sql, outcomes: readonly OutcomeRow[], lockMs = 0) {
  await sql`
    with patience as (${lockTimeout(sql, lockMs)}), written as (
      update mails s
      set status = o.status, reason = o.reason, reason_code = o.reason_code,
          blocks_resend = o.status <> 'failed',
          finished_at = case when o.status <> 'claimed' then now() end
      from patience,
           unnest(${outcomes.map(({ id }) => id)}::uuid[],
                  ${outcomes.map(({ org_id }) => org_id)}::uuid[],
                  ${outcomes.map(({ attempt }) => attempt)}::smallint[],
                  ${outcomes.map(({ status }) => status)}::text[],
                  ${outcomes.map(({ reason }) => reason)}::text[],
                  ${outcomes.map(({ reason_code }) => reason_code)}::text[],
                  ${outcomes.map(({ contact_status }) => contact_status)}::text[],
                  ${outcomes.map(({ failure_reason }) => failure_reason)}::text[])
        as o (id, org_id, attempt, status, reason, reason_code, contact_status, failure_reason)
      where s.org_id = o.org_id and s.id = o.id and s.attempts = o.attempt
        and (s.status = 'sending' or (s.status = 'unknown' and o.status <> 'claimed')
             or (s.status = 'claimed' and o.status = 'failed'))
      returning s.org_id, s.contact_id, s.email, s.month, s.status, s.reason,
                o.contact_status, o.failure_reason
    ), marked as (
      ${markOutcome(
        sql,
        sql`select org_id, contact_id, contact_status, failure_reason,
                   case when status = 'sent' then now() end
            from written
            where status <> 'claimed' and contact_status is not null`,
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

/** A mail that ended without an attempt. */
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
 * Gives up the mails of a job that an earlier run had begun. It died before it recorded the outcome, so
 * whether they arrived is unknown.
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
      ${markOutcome(
        sql,
        sql`select org_id, contact_id, 'failed', ${reason}::text, null::timestamptz
                           from begun where reminder = 0`,
      )}
    )
    select ${endedMail(sql)} from begun`;
}

/** Cancels the mails of a request that are still claimed when its time is over. */
export async function cancelClaims(sql: Sql, orgId: string, requestId: string, reason: string) {
  return await sql<EndedMail[]>`
    with cancelled as (
      update mails
      set status = 'failed', blocks_resend = false, reason = ${reason}, reason_code = 'deadline',
          finished_at = now()
      where org_id = ${orgId} and request_id = ${requestId} and status = 'claimed'
      returning *
    ), marked as (
      ${markOutcome(sql, sql`select org_id, contact_id, 'failed', ${reason}::text, null::timestamptz from cancelled`)}
    ), given_back as (
      ${giveBackUsage(sql, sql`select org_id, month, count(*) from cancelled group by 1, 2`)}
    )
    select ${endedMail(sql)} from cancelled`;
}

/** Withdraws mails that have not begun: they leave no trace, and their addresses may be claimed again. */
export async function withdrawClaims(sql: Sql, orgId: string, requestIds: readonly string[]) {
  return await sql<{ request_id: string; contact_id: string }[]>`
    delete from mails
    where org_id = ${orgId} and request_id = any (${[...requestIds]}::uuid[]) and status = 'claimed'
    returning request_id, contact_id`;
}

/** Gives up the open mails of all organizations: after a restore they may have been sent already. */
export async function giveUpOpenMails(sql: Sql, reason: string) {
  await sql`
    with open as (
      update mails
      set status = 'unknown', reason = ${reason}, reason_code = 'unknown_outcome', finished_at = now()
      where status in ('claimed', 'sending')
      returning org_id, contact_id, reminder
    )
    ${markOutcome(sql, sql`select org_id, contact_id, 'failed', ${reason}::text, null::timestamptz from open where reminder = 0`)}`;
}
