import { one, type Sql } from '../lib/db/db.ts';
import type { RetryKind } from './rules.ts';

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
  retries: RetryKind;
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
      select active, url, retries, secret,
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
              d.traceparent, d.created_at, w.url, w.secret, w.previous_secret,
              w.retries`;
}

type Claim = { by: string; atMost: number; known: Iterable<string> };

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

const takeableBy = (sql: Sql, { by, known }: Omit<Claim, 'atMost'>) => sql`
  (claimed_by = ${by} or ${free(sql)}) and id <> all (${[...known]}::uuid[])`;

const free = (sql: Sql) => sql`
  (claimed_by is null or not exists (select from worker_pools where pool_id = claimed_by))`;

/**
 * Gives deliveries back that were claimed and not attempted, so that others can claim them at once.
 */
export async function release(sql: Sql, { org_id }: WebhookRef, ids: readonly string[]) {
  await sql`
    update deliveries
    set claimed_by = null
    where org_id = ${org_id} and id = any (${[...ids]}::uuid[]) and status = 'pending'`;
}

/**
 * Webhooks with deliveries that are due and that no living process has claimed, or that were claimed by
 * this one a while ago: of a commit whose answer was lost it does not know.
 */
export async function listWebhooksDue(sql: Sql, by: string) {
  return await sql<WebhookRef[]>`
    select org_id, id as webhook_id
    from webhooks w
    where exists (
      select from deliveries
      where webhook_id = w.id and status = 'pending' and next_attempt_at <= now()
        and (${free(sql)}
             or claimed_by = ${by} and next_attempt_at < now() - interval '2 seconds')
    )`;
}

/** Gives a claimed delivery back, to be claimed again later. */
export async function postpone(sql: Sql, { org_id, id }: ClaimedDelivery, seconds: number) {
  await sql`
    update deliveries
    set claimed_by = null, next_attempt_at = now() + make_interval(secs => ${seconds})
    where org_id = ${org_id} and id = ${id} and status = 'pending'`;
}

/** Whether a webhook has deliveries that are due now or later. */
export async function hasPending(sql: Sql, { org_id, webhook_id }: WebhookRef): Promise<boolean> {
  return one(
    await sql<{ found: boolean }[]>`
      select exists (
        select from deliveries
        where org_id = ${org_id} and webhook_id = ${webhook_id} and status = 'pending'
      ) as found`,
  ).found;
}
