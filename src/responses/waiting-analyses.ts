import { one, type Part, type Sql } from '../lib/db/db.ts';
import { type Claim, isAbandoned, isClaimable } from '../lib/work/claims.ts';
import { wordsOf } from '../questions/erase.ts';

export type WaitingAnalysis = {
  id: string;
  org_id: string;
  response_id: string;
  tries: number;
  asked_at: string | null;
  due_at: Date;
  traceparent: string | null;
  created_at: Date;
};

type Sweep = { after: string | null; by: string };

/**
 * Lists organizations with due, unclaimed comments by id, starting after the last organization of the previous sweep.
 */
export async function listOrganizationsWaiting(
  sql: Sql,
  { atMost, ...sweep }: Sweep & { atMost: number },
): Promise<string[]> {
  const rows = await sql<{ org_id: string }[]>`
    select org_id
    from (${organizationsWaiting(sql, sweep)}) waiting
    limit ${atMost}`;
  return rows.map(({ org_id }) => org_id);
}

export const hasWaiting = (sql: Sql, by: string): Part => sql`
  exists (${organizationsWaiting(sql, { after: null, by })})`;

/** Skip scan: reads a few index rows per organization, however many comments wait. */
const organizationsWaiting = (sql: Sql, { after, by }: Sweep): Part => sql`
  -- all organizations
  with recursive waiting (org_id) as (
    (select org_id from waiting_analyses
     where org_id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
     order by org_id
     limit 1)
    union all
    select (select org_id from waiting_analyses w where w.org_id > waiting.org_id order by org_id limit 1)
    from waiting
    where waiting.org_id is not null
  )
  select org_id
  from waiting
  where org_id is not null and exists (
    select
    from (values (false), (true)) as age (is_history)
    cross join lateral (
      select
      from waiting_analyses w
      where w.org_id = waiting.org_id and w.is_history = age.is_history and due_at <= now()
        and ${isAbandoned(sql, by, sql`due_at`)}
      order by due_at
      limit 1
    ) due
  )`;

export async function claimWaiting(
  sql: Sql,
  orgId: string,
  { by, atMost, known }: Claim,
): Promise<WaitingAnalysis[]> {
  return await sql<WaitingAnalysis[]>`
    with due as (
      select w.response_id
      from (values (false), (true)) as age (is_history)
      cross join lateral (
        select response_id, due_at
        from waiting_analyses
        where org_id = ${orgId} and is_history = age.is_history and due_at <= now()
          and ${isClaimable(sql, by)} and response_id <> all (${known}::uuid[])
        order by due_at
        limit ${atMost}
        for update skip locked
      ) w
      order by age.is_history, w.due_at
      limit ${atMost}
    ), claimed as (
      update waiting_analyses w
      set claimed_by = ${by}
      from due
      where w.org_id = ${orgId} and w.response_id = due.response_id
      returning w.*
    )
    select response_id as id, org_id, response_id, tries, asked_at::text as asked_at, due_at, traceparent, created_at
    from claimed
    order by is_history, due_at, created_at`;
}

/** Returns claimed but unstarted comments to the queue. */
export async function releaseWaiting(sql: Sql, orgId: string, ids: readonly string[], by: string) {
  await sql`
    update waiting_analyses
    set claimed_by = null
    where org_id = ${orgId} and response_id = any (${[...ids]}::uuid[]) and claimed_by = ${by}`;
}

export async function postponeWaiting(
  sql: Sql,
  { orgId, responseId, askedAt }: AnalysisTarget,
  waitMs: number,
) {
  await sql`
    update waiting_analyses
    set claimed_by = null, tries = tries + 1, due_at = now() + make_interval(secs => ${waitMs / 1000})
    where org_id = ${orgId} and response_id = ${responseId}
      and asked_at is not distinct from ${askedAt}::text::timestamptz`;
}

export async function endWaiting(sql: Sql, target: AnalysisTarget) {
  await sql`${deleteWaiting(sql, target)}`;
}

/** Requests a new analysis of all responses since a time. */
export async function insertWaitingSince(sql: Sql, orgId: string, since: Date) {
  return one(
    await sql<{ answers: number; asked_at: string }[]>`
      with asked as (
        select org_id, id
        from responses r
        where org_id = ${orgId} and created_at >= ${since} and coalesce(comment, ${wordsOf(sql)}) is not null
          and held_reason is null
        order by id
        for key share
      ), waiting as (
        insert into waiting_analyses (org_id, response_id, is_history, asked_at)
        select org_id, id, true, now()
        from asked
        on conflict (org_id, response_id) do update
          set asked_at = excluded.asked_at, due_at = excluded.due_at, tries = 0, claimed_by = null
      )
      select count(*)::int as answers, now()::text as asked_at from asked`,
  );
}

/**
 * Queues responses for analysis if their organization has turned analysis on. `answers` selects org_id, id and
 * traceparent. Past responses, such as imports, are analyzed after new responses.
 */
export const insertWaiting = (sql: Sql, answers: Part, { isHistory = false } = {}) => sql`
  insert into waiting_analyses (org_id, response_id, traceparent, is_history)
  select a.org_id, a.id, a.traceparent, ${isHistory}::boolean
  from (${answers}) as a (org_id, id, traceparent)
  join organizations o on o.id = a.org_id and o.ai_enabled
  on conflict do nothing`;

/** Requests new analyses of responses to which text was added. `answers` selects their org_id and id. */
export const insertWaitingAgain = (sql: Sql, answers: Part) => sql`
  insert into waiting_analyses as w (org_id, response_id, asked_at)
  select a.org_id, a.id, now()
  from (${answers}) as a (org_id, id)
  join organizations o on o.id = a.org_id and o.ai_enabled
  on conflict (org_id, response_id) do update
    set asked_at = excluded.asked_at, due_at = excluded.due_at, tries = 0, claimed_by = null`;

export type AnalysisTarget = {
  orgId: string;
  responseId: string;
  /** Text, because a Date would lose the microseconds. */
  askedAt: string | null;
};

/** Keeps the row if the analysis has been requested again in the meantime. */
export const deleteWaiting = (sql: Sql, { orgId, responseId, askedAt }: AnalysisTarget) => sql`
  delete from waiting_analyses
  where org_id = ${orgId} and response_id = ${responseId}
    and asked_at is not distinct from ${askedAt}::text::timestamptz`;
