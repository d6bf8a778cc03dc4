import type { Sql } from '../lib/db/db.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { maxLogDays } from '../organizations/manage.ts';

export type TimelineEntry = Omit<HistoryRow, 'what'> & {
  what: HistoryRow['what'] | 'delivered' | 'not_delivered';
  webhook_id: string | null;
  delivery_id: string | null;
};

export async function readTimeline(sql: Sql, orgId: string, email: string) {
  const key = addressKey(email);
  const [history, deliveries] = await Promise.all([
    listHistory(sql, orgId, key),
    listDeliveriesOf(sql, orgId, key),
  ]);
  const delivered = deliveries.map(
    ({ event, status, url, ...delivery }): TimelineEntry => ({
      ...delivery,
      what: status === 'delivered' ? 'delivered' : 'not_delivered',
      reason_code: status === 'delivered' ? null : status,
      reason: `${event} to ${url}`,
      trace_id: null,
      response_id: null,
      mail_id: null,
      server_reply: null,
    }),
  );
  const mailed = history.map((row) => ({ ...row, webhook_id: null, delivery_id: null }));
  return [...mailed, ...delivered].sort((one, other) => one.at.getTime() - other.at.getTime());
}

type DeliveredEvent = {
  at: Date;
  event: string;
  status: 'pending' | 'delivered' | 'failed' | 'skipped';
  url: string;
  delivery_id: string;
  webhook_id: string;
  survey_id: string;
  survey_name: string;
  round: number;
};

/**
 * Lists the deliveries of an address's responses. Events and deliveries are written in the transaction of the response,
 * so their ids begin with its time, and the payload contains the id of the response.
 */
export async function listDeliveriesOf(sql: Sql, orgId: string, email: string) {
  return await sql<DeliveredEvent[]>`
    select coalesce(d.delivered_at, d.created_at) as at, e.type as event, d.status, w.url, d.id as delivery_id,
           w.id as webhook_id, s.id as survey_id, s.name as survey_name, c.round
    from contacts c
    join responses r on r.org_id = c.org_id and r.contact_id = c.id
    join surveys s on s.org_id = c.org_id and s.id = c.survey_id
    join events e on e.org_id = c.org_id
     and e.id between least_id_at(r.created_at - interval '10 seconds')
                  and least_id_at(r.created_at + interval '10 seconds')
     and strpos(e.body, r.id::text) > 0
    join webhooks w on w.org_id = c.org_id
    join deliveries d on d.org_id = c.org_id and d.webhook_id = w.id and d.event_id = e.id
     and d.id between least_id_at(r.created_at - interval '10 seconds')
                  and least_id_at(r.created_at + interval '10 seconds')
    where c.org_id = ${orgId} and c.email_key = lower(${email})
    order by 1, d.id`;
}

export const historyEvents = [
  'added',
  'claimed',
  'sending',
  'sent',
  'reminded',
  'failed',
  'unknown',
  'blocked',
  'opened',
  'answered',
  'answer_held',
  'replied',
  'reply_sending',
  'reply_failed',
  'reply_unknown',
  'unsubscribed',
  'bounced',
  'allowed',
] as const;

export type HistoryRow = {
  at: Date;
  what: (typeof historyEvents)[number];
  survey_id: string | null;
  survey_name: string | null;
  round: number | null;
  /** The rule that blocked the email, or the kind of failure. */
  reason_code: string | null;
  reason: string | null;
  response_id: string | null;
  trace_id: string | null;
  mail_id: string | null;
  server_reply: string | null;
};

/**
 * Lists everything that happened between an organization and an address, oldest first. Visits and blocked emails past
 * their retention are left out even before the nightly cleanup deletes them.
 */
export async function listHistory(sql: Sql, orgId: string, email: string) {
  return await sql<HistoryRow[]>`
    -- organization: caller
    with own_contacts as (
      select id, survey_id, round, created_at
      from contacts
      where org_id = ${orgId} and email_key = lower(${email})
    ), history as (
      select created_at as at, 'added' as what, survey_id, null as reason_code, null as reason,
             null as traceparent, null::uuid as response_id, null::uuid as mail_id, null as server_reply, round
      from own_contacts
      where round = 1
      union all
      select coalesce(finished_at, sending_at, claimed_at),
             case when reminder = 0 or status <> 'sent' then status else 'reminded' end, survey_id, reason_code, reason, traceparent, null,
             id, server_reply, round
      from mails
      where org_id = ${orgId} and email_key = lower(${email})
      union all
      select blocked_at, 'blocked', survey_id, reason_code, reason, null, null, null, null, null
      from blocked_mails
      where org_id = ${orgId} and email_key = lower(${email})
        and blocked_on >= (now() at time zone 'UTC')::date - ${maxLogDays}::int
      union all
      select min(o.visited_at), 'opened', o.survey_id, null,
             format('%s times, last on %s', count(*), iso(max(o.visited_at))), null, null, null, null, p.round
      from own_contacts p
      join link_visits o on o.contact_id = p.id and o.kind = 'view' and o.method = 'GET'
       and o.visited_at >= now() - make_interval(days => ${maxLogDays}::int)
      group by o.survey_id, p.id, p.round
      union all
      select r.created_at, case when r.held_reason is null then 'answered' else 'answer_held' end,
             r.survey_id, r.held_reason, format('score %s', r.score), r.traceparent, r.id, null, null,
             p.round
      from own_contacts p
      join responses r on r.org_id = ${orgId} and r.contact_id = p.id
      union all
      select coalesce(p.finished_at, p.created_at),
             case p.status when 'sent' then 'replied' when 'claimed' then 'reply_sending' else 'reply_' || p.status end,
             r.survey_id, p.reason_code, concat_ws(E'\\n', p.author || ': ' || p.text, p.reason), null, r.id, p.id,
             p.server_reply, c.round
      from own_contacts c
      join responses r on r.org_id = ${orgId} and r.contact_id = c.id
      join replies p on p.org_id = ${orgId} and p.response_id = r.id
      union all
      select created_at, kind, null, case when by_hand then 'by_hand' end, detail, null, null, null, null, null
      from (
        select created_at, kind, by_hand, detail from suppressions where org_id = ${orgId} and email = lower(${email})
        union all
        select created_at, kind, by_hand, detail from lifted_suppressions where org_id = ${orgId} and email = lower(${email})
      ) suppressed
      union all
      select lifted_at, 'allowed', null,
             case when consent is not null then 'consent' when lifted_by is null then 'own_wish' else 'by_hand' end,
             nullif(concat_ws(': ', lifted_by, consent), ''), null, null, null, null, null
      from lifted_suppressions
      where org_id = ${orgId} and email = lower(${email})
    )
    select h.at, h.what, h.survey_id, v.name as survey_name, h.round, h.reason_code, h.reason, h.response_id,
           h.mail_id, h.server_reply,
           substring(h.traceparent from 4 for 32) as trace_id
    from history h
    left join surveys v on v.org_id = ${orgId} and v.id = h.survey_id
    order by h.at, h.what`;
}
