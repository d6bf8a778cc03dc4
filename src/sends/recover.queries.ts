import { markOutcome } from '../contacts/sending.cte.ts';
import type { Sql } from '../lib/db/db.ts';
import { giveBackUsage } from '../organizations/usage.queries.ts';
import { type EndedMail, endedMail } from './record.queries.ts';

export type FailedJob = { id: string; org_id: string; mail_ids: string[] };
type FailedLongAgo = { seconds: number; atMost: number };

/** Mail jobs that have failed for the last time, so long ago that no process works on them any more. */
export async function listFailedJobs(sql: Sql, { seconds, atMost }: FailedLongAgo) {
  return await sql<FailedJob[]>`
    select j.id, j.payload ->> 'org_id' as org_id, j.payload -> 'mail_ids' as mail_ids
    from graphile_worker._private_jobs j
    join graphile_worker._private_tasks t on t.id = j.task_id
    where t.identifier = 'sends.mail' and j.attempts >= j.max_attempts and j.locked_at is null
      and j.updated_at < now() - make_interval(secs => ${seconds})
    order by j.id
    limit ${atMost}
    for update of j skip locked`;
}

/** A mail without an outcome. */
export type StrandedMail = {
  id: string;
  org_id: string;
  status: 'claimed' | 'sending';
  claimed_ms_ago: number;
  /** Reasons not to mail it any more. */
  unsubscribed: boolean;
  closed: boolean;
};

export async function listStranded(sql: Sql, jobs: readonly FailedJob[]) {
  const mails = jobs.flatMap(({ org_id, mail_ids }) => mail_ids.map((id) => ({ org_id, id })));
  return await sql<StrandedMail[]>`
    select s.id, s.org_id, s.status,
           (extract(epoch from now() - s.claimed_at) * 1000)::float8 as claimed_ms_ago,
           exists (select from suppressions x
                   where x.org_id = s.org_id and x.email = s.email_key
                     and x.kind = 'unsubscribed') as unsubscribed,
           v.completed_by is not distinct from 'hand' as closed
    from unnest(${mails.map(({ org_id }) => org_id)}::uuid[], ${mails.map(({ id }) => id)}::uuid[])
           as m (org_id, id)
    join mails s on s.org_id = m.org_id and s.id = m.id
    join surveys v on v.org_id = s.org_id and v.id = s.survey_id
    where s.status in ('claimed', 'sending')`;
}

export type NotSent = { id: string; org_id: string; reason: string };

/** Cancels mails that have not begun, and gives back the quota they took. */
export async function cancelStranded(sql: Sql, mails: readonly NotSent[]) {
  return await sql<EndedMail[]>`
    with cancelled as (
      update mails s
      set status = 'failed', blocks_resend = false, reason = m.reason, reason_code = 'deadline',
          finished_at = now()
      from json_to_recordset(${JSON.stringify(mails)}::text::json)
        as m (id uuid, org_id uuid, reason text)
      where s.org_id = m.org_id and s.id = m.id and s.status = 'claimed'
      returning s.*
    ), marked as (
      ${markOutcome(sql, sql`select org_id, contact_id, 'failed', reason, null::timestamptz from cancelled where reminder = 0`)}
    ), given_back as (
      ${giveBackUsage(sql, sql`select org_id, month, count(*) from cancelled group by 1, 2`)}
    )
    select ${endedMail(sql)} from cancelled`;
}

/** Removes jobs that are done. */
export async function removeJobs(sql: Sql, ids: readonly string[]) {
  await sql`select graphile_worker.complete_jobs(${[...ids]}::bigint[])`;
}
