import type { Sql } from '../lib/db/db.ts';
import { mostDaysOfLogs } from '../organizations/retention.ts';

export type HistoryRow = {
  at: Date;
  what:
    | 'added'
    | 'claimed'
    | 'sending'
    | 'sent'
    | 'reminded'
    | 'failed'
    | 'unknown'
    | 'blocked'
    | 'opened'
    | 'answered'
    | 'answer_held'
    | 'unsubscribed'
    | 'bounced';
  survey_id: string | null;
  survey_name: string | null;
  /** The rule or the kind of failure, where there is one. */
  reason_code: string | null;
  reason: string | null;
  /** The answer itself. */
  response_id: string | null;
  /** Where there is one to look up. */
  trace_id: string | null;
};

/**
 * Everything that happened between an organization and an address, oldest first. Visits and blocked mails that are too
 * old are not shown, although they stay until the nightly clean-up.
 */
export async function listHistory(sql: Sql, orgId: string, email: string) {
  return await sql<HistoryRow[]>`
    -- organization: caller
    with own_contacts as (
      select id, survey_id, created_at
      from contacts
      where org_id = ${orgId} and email_key = lower(${email})
    ), history as (
      select created_at as at, 'added' as what, survey_id, null as reason_code, null as reason,
             null as traceparent, null::uuid as response_id
      from own_contacts
      union all
      select coalesce(finished_at, sending_at, claimed_at),
             case when reminder = 0 or status <> 'sent' then status else 'reminded' end, survey_id, reason_code, reason, traceparent, null
      from mails
      where org_id = ${orgId} and email_key = lower(${email})
      union all
      select blocked_at, 'blocked', survey_id, reason_code, reason, null, null
      from blocked_mails
      where org_id = ${orgId} and email_key = lower(${email})
        and blocked_on >= (now() at time zone 'UTC')::date - ${mostDaysOfLogs}::int
      union all
      select min(o.visited_at), 'opened', o.survey_id, null,
             format('%s times, last on %s', count(*), iso(max(o.visited_at))), null, null
      from own_contacts p
      join link_visits o on o.contact_id = p.id and o.kind = 'view' and o.method = 'GET'
       and o.visited_at >= now() - make_interval(days => ${mostDaysOfLogs}::int)
      group by o.survey_id, p.id
      union all
      select r.created_at, case when r.held_reason is null then 'answered' else 'answer_held' end,
             r.survey_id, r.held_reason, format('score %s', r.score), r.traceparent, r.id
      from own_contacts p
      join responses r on r.org_id = ${orgId} and r.contact_id = p.id
      union all
      select created_at, kind, null, null, detail, null, null
      from suppressions
      where org_id = ${orgId} and email = lower(${email})
    )
    select h.at, h.what, h.survey_id, v.name as survey_name, h.reason_code, h.reason, h.response_id,
           substring(h.traceparent from 4 for 32) as trace_id
    from history h
    left join surveys v on v.org_id = ${orgId} and v.id = h.survey_id
    order by h.at, h.what`;
}
