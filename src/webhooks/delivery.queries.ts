import { one, type Part, type Sql } from '../lib/db/db.ts';
import { type Claim, isAbandoned, isClaimable } from '../lib/work/claims.ts';

export type Delivery = {
  id: string;
  org_id: string;
  webhook_id: string;
  message_id: string;
  event: string;
  body: string;
  attempts: number;
  traceparent: string | null;
  created_at: Date;
};

/** `webhook_updated_at` is as of the claim: an attempt must not use an older webhook. */
export type ClaimedDelivery = Delivery & { webhook_updated_at: Date };

export type WebhookRef = { org_id: string; webhook_id: string };

/** Claims due deliveries of an active webhook. Retries go first, so that a backlog cannot hide a dead subscriber. */
export async function claimDue(sql: Sql, { org_id, webhook_id }: WebhookRef, claim: Claim) {
  const { by, atMost } = claim;
  const takeable = takeableBy(sql, claim);
  return await sql<ClaimedDelivery[]>`
    with webhook as (
      select active, updated_at
      from webhooks
      where org_id = ${org_id} and id = ${webhook_id}
    ), retry as (
      select attempts, id
      from pending_deliveries
      where org_id = ${org_id} and webhook_id = ${webhook_id} and attempts > 0
        and next_attempt_at <= now() and ${takeable} and (select active from webhook)
      order by next_attempt_at
      limit ${atMost}
      for update skip locked
    ), first_try as (
      select attempts, id
      from pending_deliveries
      where org_id = ${org_id} and webhook_id = ${webhook_id} and attempts = 0
        and ${isFirstTryDue(sql)} and ${takeable} and (select active from webhook)
      order by id
      limit ${atMost} - (select count(*) from retry)
      for update skip locked
    ), due as (
      select attempts, id from retry
      union all
      select attempts, id from first_try
    ), claimed as (
      update pending_deliveries d
      set claimed_by = ${by}
      from due
      where d.org_id = ${org_id} and d.webhook_id = ${webhook_id} and d.attempts = due.attempts and d.id = due.id
      returning d.*
    )
    select d.id, d.org_id, d.webhook_id, coalesce(d.message_id, d.id) as message_id, e.type as event, e.body,
           d.attempts, coalesce(d.traceparent, e.traceparent) as traceparent, time_of(d.id) as created_at,
           w.updated_at as webhook_updated_at
    from claimed d
    join events e on e.org_id = ${org_id} and e.id = d.event_id
    cross join webhook w
    order by d.attempts = 0, d.next_attempt_at, d.id`;
}

/**
 * Skips pending deliveries of an inactive webhook in batches. Replays without an attempt are deleted, because their
 * originals can be replayed again. Locks the webhook first to avoid a deadlock with its deletion.
 */
export async function skipWaiting(sql: Sql, { org_id, webhook_id }: WebhookRef, claim: Claim) {
  const skipped = await sql<{ count: number }[]>`
    with inactive as materialized (
      select
      from webhooks
      where org_id = ${org_id} and id = ${webhook_id} and not active
      for key share
    ), waiting as (
      select attempts, id
      from pending_deliveries
      where org_id = ${org_id} and webhook_id = ${webhook_id} and ${takeableBy(sql, claim)}
        and exists (select from inactive)
      limit ${claim.atMost}
      for update skip locked
    ), gone as (
      delete from pending_deliveries d
      using waiting
      where d.org_id = ${org_id} and d.webhook_id = ${webhook_id}
        and d.attempts = waiting.attempts and d.id = waiting.id
      returning d.*
    ), skipped as (
      insert into ended_deliveries (org_id, webhook_id, id, event_id, message_id, undelivered, attempts, status_code,
                                    response_body, traceparent, is_test, is_replay)
      select org_id, webhook_id, id, event_id, message_id, 'skipped', attempts, status_code,
             response_body, traceparent, is_test, is_replay
      from gone
      where not (is_replay and attempts = 0)
    )
    select count(*)::int as count from waiting`;
  return one(skipped).count;
}

const takeableBy = (sql: Sql, { by, known }: Claim) => sql`
  ${isClaimable(sql, by)} and id <> all (${known}::uuid[])`;

/** Null means due at once. */
const isFirstTryDue = (sql: Sql) => sql`(next_attempt_at is null or next_attempt_at <= now())`;

export async function release(
  sql: Sql,
  { org_id, webhook_id }: WebhookRef,
  ids: readonly string[],
) {
  await sql`
    update pending_deliveries
    set claimed_by = null
    where org_id = ${org_id} and webhook_id = ${webhook_id} and id = any (${[...ids]}::uuid[])`;
}

export async function listWebhooksDue(sql: Sql, by: string) {
  return await sql<WebhookRef[]>`
    -- all organizations
    select org_id, id as webhook_id
    from webhooks w
    where ${isDue(sql, by)}`;
}

export const hasWebhookDue = (sql: Sql, by: string): Part => sql`
  -- all organizations
  exists (select from webhooks w where ${isDue(sql, by)})`;

/**
 * True if webhook `w` has due deliveries that no live process has claimed, or that this process claimed in a commit
 * whose answer was lost.
 */
function isDue(sql: Sql, by: string): Part {
  const left = isAbandoned(sql, by, sql`coalesce(next_attempt_at, time_of(id))`);
  return sql`(
    exists (
      select from pending_deliveries
      where org_id = w.org_id and webhook_id = w.id and attempts = 0 and ${isFirstTryDue(sql)} and ${left}
    ) or exists (
      select from pending_deliveries
      where org_id = w.org_id and webhook_id = w.id and attempts > 0 and next_attempt_at <= now() and ${left}
    ))`;
}

export async function postpone(
  sql: Sql,
  { org_id, webhook_id, attempts, id }: Delivery,
  seconds: number,
) {
  await sql`
    update pending_deliveries
    set claimed_by = null, next_attempt_at = now() + make_interval(secs => ${seconds})
    where org_id = ${org_id} and webhook_id = ${webhook_id} and attempts = ${attempts} and id = ${id}`;
}

export async function isWaiting(sql: Sql, { org_id, webhook_id, attempts, id }: Delivery) {
  const rows = await sql`
    select from pending_deliveries
    where org_id = ${org_id} and webhook_id = ${webhook_id} and attempts = ${attempts} and id = ${id}`;
  return rows.length > 0;
}
