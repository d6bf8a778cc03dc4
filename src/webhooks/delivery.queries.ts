import { one, type Sql } from '../lib/db/db.ts';

/** A claimed delivery, with all that its attempt needs. */
export type ClaimedDelivery = {
  id: string;
  org_id: string;
  webhook_id: string;
  message_id: string;
  event: string;
  body: string;
  attempts: number;
  traceparent: string | null;
  created_at: Date;
  url: string;
  secret: Buffer;
  previous_secret: Buffer | null;
};

export type WebhookRef = { org_id: string; webhook_id: string };

/**
 * Claims due deliveries of a webhook, oldest first; none of one that is switched off. A claim holds as long
 * as the lease that made it. One in our own name that we do not know is a claim whose answer was lost.
 * Retries go first: a backlog must not keep a dead subscriber from failing.
 */
export async function claimDue(sql: Sql, { org_id, webhook_id }: WebhookRef, claim: Claim) {
  const { by, atMost } = claim;
  const takeable = takeableBy(sql, claim);
  return await sql<ClaimedDelivery[]>`
    with webhook as (
      select active, url, secret,
             case when previous_secret_until > now() then previous_secret end as previous_secret
      from webhooks
      where org_id = ${org_id} and id = ${webhook_id}
    ), retry as (
      select id
      from deliveries
      where org_id = ${org_id} and webhook_id = ${webhook_id} and status = 'pending' and attempts > 0
        and next_attempt_at <= now() and ${takeable} and (select active from webhook)
      order by next_attempt_at
      limit ${atMost}
      for update skip locked
    ), first_try as (
      select id
      from deliveries
      where org_id = ${org_id} and webhook_id = ${webhook_id} and status = 'pending' and attempts = 0
        and next_attempt_at <= now() and ${takeable} and (select active from webhook)
      order by next_attempt_at
      limit ${atMost} - (select count(*) from retry)
      for update skip locked
    ), due as (
      select id from retry
      union all
      select id from first_try
    )
    update deliveries d
    set claimed_by = ${by}
    from due, webhook w
    where d.org_id = ${org_id} and d.id = due.id
    returning d.id, d.org_id, d.webhook_id, d.message_id, d.event, d.body, d.attempts,
              d.traceparent, d.created_at, w.url, w.secret, w.previous_secret`;
}

type Claim = { by: string; atMost: number; claimed: Iterable<string> };

/**
 * Skips what waits for a webhook that is switched off, so that a replay can deliver it later: some at a
 * time, as a backlog may be long. A replay that was never attempted is deleted: its original is still
 * there to be replayed, and repeated replays do not multiply an event. Returns how many there were.
 */
export async function skipWaiting(sql: Sql, { org_id, webhook_id }: WebhookRef, claim: Claim) {
  const skipped = await sql<{ count: number }[]>`
    with waiting as (
      select id, is_replay and attempts = 0 as is_spare
      from deliveries
      where org_id = ${org_id} and webhook_id = ${webhook_id} and status = 'pending'
        and ${takeableBy(sql, claim)}
        and (select not active from webhooks where org_id = ${org_id} and id = ${webhook_id})
      limit ${claim.atMost}
      for update skip locked
    ), deleted as (
      delete from deliveries d
      using waiting
      where d.org_id = ${org_id} and d.id = waiting.id and is_spare
    ), skipped as (
      update deliveries d
      set status = 'skipped', next_attempt_at = null
      from waiting
      where d.org_id = ${org_id} and d.id = waiting.id and not is_spare
    )
    select count(*)::int as count from waiting`;
  return one(skipped).count;
}

const takeableBy = (sql: Sql, { by, claimed }: Omit<Claim, 'atMost'>) => sql`
  (claimed_by = ${by} or ${free(sql)}) and id <> all (${[...claimed]}::uuid[])`;

const free = (sql: Sql) => sql`
  (claimed_by is null or not exists (select from worker_pools where pool_id = claimed_by))`;

/** Webhooks with deliveries that are due and that no living process has claimed. */
export async function listWebhooksDue(sql: Sql) {
  return await sql<WebhookRef[]>`
    select org_id, id as webhook_id
    from webhooks w
    where exists (
      select from deliveries
      where webhook_id = w.id and status = 'pending' and next_attempt_at <= now() and ${free(sql)}
    )`;
}

/** Gives a claimed delivery back, to be claimed again later. */
export async function postpone(sql: Sql, { org_id, id }: ClaimedDelivery, seconds: number) {
  await sql`
    update deliveries
    set claimed_by = null, next_attempt_at = now() + make_interval(secs => ${seconds})
    where org_id = ${org_id} and id = ${id} and status = 'pending'`;
}

/** Locks the webhook, so that the outcomes of several deliveries are counted one after the other. */
export async function lockStanding(sql: Sql, { org_id, webhook_id }: WebhookRef) {
  const [webhook] = await sql<{ active: boolean; failure_count: number }[]>`
    select active, failure_count
    from webhooks
    where org_id = ${org_id} and id = ${webhook_id}
    for no key update`;
  return webhook;
}

export type AttemptRow = {
  id: string;
  number: number;
  status: 'delivered' | 'pending' | 'failed';
  status_code: number | null;
  response_body: string | null;
  error: string | null;
  duration_ms: number;
  at: Date;
  traceparent: string | null;
  retry_in_seconds: number | null;
};

export type SavedAttempt = {
  id: string;
  next_attempt_at: Date | null;
  traceparent: string | null;
};

/**
 * Writes attempts and what they mean for their deliveries, and returns those that were new: an attempt
 * that is written already, because the answer to the first statement was lost, changes nothing again. A
 * delivery without a trace of its cause gets the trace of its first attempt.
 */
export async function saveAttempts(
  sql: Sql,
  { org_id }: WebhookRef,
  attempts: readonly AttemptRow[],
) {
  return await sql<SavedAttempt[]>`
    with attempt as (
      select *
      from json_to_recordset(${JSON.stringify(attempts)}::text::json) as a (
        id uuid, number smallint, status text, status_code smallint, response_body text, error text,
        duration_ms integer, at timestamptz, traceparent text, retry_in_seconds integer)
    ), recorded_now as (
      update deliveries d
      set status = a.status, attempts = a.number, status_code = a.status_code,
          response_body = a.response_body, claimed_by = null,
          delivered_at = case when a.status = 'delivered' then now() end,
          next_attempt_at = now() + make_interval(secs => a.retry_in_seconds),
          traceparent = coalesce(d.traceparent, a.traceparent)
      from attempt a
      where d.org_id = ${org_id} and d.id = a.id and d.status = 'pending'
        and d.attempts = a.number - 1
      returning d.id, d.next_attempt_at, d.traceparent
    ), recorded as (
      insert into delivery_attempts
        (org_id, delivery_id, number, status_code, response_body, error, duration_ms, at)
      select ${org_id}, id, number, status_code, response_body, error, duration_ms, at
      from attempt
      join recorded_now using (id)
      on conflict (org_id, delivery_id, number) do nothing
    )
    select id, next_attempt_at, traceparent
    from recorded_now`;
}

export async function saveStanding(
  sql: Sql,
  { org_id, webhook_id }: WebhookRef,
  { failures, deactivatedReason }: { failures: number; deactivatedReason: string | null },
) {
  await sql`
    update webhooks
    set failure_count = ${failures}, last_delivery_at = now(),
        active = active and ${deactivatedReason}::text is null,
        deactivated_at = case when ${deactivatedReason}::text is null then deactivated_at else now() end,
        deactivated_reason = coalesce(${deactivatedReason}, deactivated_reason)
    where org_id = ${org_id} and id = ${webhook_id}`;
}
