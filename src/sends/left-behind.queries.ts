import { markSettled } from '../contacts/sending.cte.ts';
import { giveBack } from '../organizations/usage.cte.ts';
import type { Sql } from '../platform/db.ts';

/** A mail without an outcome that no job has in hand any more. */
export type LeftMail = {
  id: string;
  org_id: string;
  survey_id: string;
  status: 'claimed' | 'sending';
  attempts: number;
  traceparent: string | null;
  claimed_ms_ago: number;
  sending_ms_ago: number | null;
  /** What has happened since that speaks against mailing it. */
  unsubscribed: boolean;
  closed: boolean;
};

/**
 * A job has a mail in hand from the outbox until it is done, or has failed for the last time and is not
 * running. Mails that are locked are just being begun or settled.
 */
export async function listLeft(sql: Sql, { seconds, atMost }: { seconds: number; atMost: number }) {
  return await sql<LeftMail[]>`
    with in_hand as (
      select json_array_elements_text(payload -> 'send_ids')::uuid as id
      from outbox
      where task = 'sends.mail'
      union all
      select json_array_elements_text(j.payload -> 'send_ids')::uuid
      from graphile_worker._private_jobs j
      join graphile_worker._private_tasks t on t.id = j.task_id
      where t.identifier = 'sends.mail' and (j.attempts < j.max_attempts or j.locked_at is not null)
    )
    select s.id, s.org_id, s.survey_id, s.status, s.attempts, s.traceparent,
           (extract(epoch from now() - s.claimed_at) * 1000)::float8 as claimed_ms_ago,
           (extract(epoch from now() - s.sending_at) * 1000)::float8 as sending_ms_ago,
           exists (select from suppressions x
                   where x.org_id = s.org_id and x.email = lower(s.email)
                     and x.kind = 'unsubscribed') as unsubscribed,
           v.completed_by is not distinct from 'hand' as closed
    from sends s
    join surveys v on v.org_id = s.org_id and v.id = s.survey_id
    where s.status in ('claimed', 'sending')
      and s.claimed_at < now() - make_interval(secs => ${seconds})
      and (s.status = 'claimed' or s.sending_at < now() - make_interval(secs => ${seconds}))
      and not exists (select from in_hand h where h.id = s.id)
    order by s.claimed_at
    limit ${atMost}`;
}

export type NotSent = { id: string; org_id: string; reason: string };

/** Takes back mails that nobody has begun, and gives back the quota they took. */
export async function cancelLeft(sql: Sql, mails: readonly NotSent[]) {
  await sql`
    with cancelled as (
      update sends s
      set status = 'failed', reason = m.reason, reason_code = 'deadline', settled_at = now()
      from json_to_recordset(${JSON.stringify(mails)}::text::json)
        as m (id uuid, org_id uuid, reason text)
      where s.org_id = m.org_id and s.id = m.id and s.status = 'claimed'
      returning s.org_id, s.contact_id, s.month, s.reason
    ), marked as (
      ${markSettled(sql, sql`select org_id, contact_id, 'failed', reason, null::timestamptz from cancelled`)}
    )
    ${giveBack(sql, sql`select org_id, month, count(*) from cancelled group by 1, 2`)}`;
}
