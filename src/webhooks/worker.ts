import type { Db, Part, Sql } from '../lib/db/db.ts';
import { one } from '../lib/db/db.ts';
import { ofGroup } from '../lib/db/fair-pool.ts';
import type { Log } from '../lib/log/log.ts';
import { type Claim, createClaims, isClaimable, isLeft } from '../lib/work/claims.ts';
import { skipped } from '../signals.ts';
import {
  attempt,
  type ClaimedDelivery,
  type DeliverTools,
  isOurFault,
  type WebhookRef,
} from './deliver.ts';
import { createRecorder } from './record.ts';

export type DeliveryWorker = ReturnType<typeof createDeliveryWorker>;

type WorkerTools = DeliverTools & {
  db: Db;
  log: Log;
  /** The lease in whose name deliveries are claimed. */
  claimer: () => string;
};

/** Attempts of one webhook in flight at once: a subscriber that hangs holds no more than these. */
export const maxInFlight = 16;
const maxSkippedAtOnce = 1000;
const unsentPostponeSeconds = 1;
const faultPostponeSeconds = 60;

/**
 * Delivers events to webhooks. A webhook is woken by the process that has just committed its deliveries, by a job, and by
 * the sweep, which finds retries that are due and what a dead process had claimed. Its deliveries are claimed just before
 * their attempts, with the address and the secrets as they are then.
 */
export function createDeliveryWorker(tools: WorkerTools) {
  const { db, log, claimer } = tools;
  const recordOutcome = createRecorder(tools);
  const claims = createClaims<WebhookRef, ClaimedDelivery>({
    log,
    outage: {
      begins: 'no deliveries claimed, trying on',
      over: 'deliveries are claimed again',
    },
    maxRunning: maxInFlight,
    lease: claimer,
    keyOf: ({ webhook_id }) => webhook_id,
    fieldsOf: ({ webhook_id }) => ({ webhook_id }),
    tenantOf: ({ org_id }) => org_id,
    listDue: (by) => listWebhooksDue(db, by),
    claim,
    release: (webhook, ids) => release(ofGroup(db, webhook.org_id), webhook, ids),
    run: deliver,
  });

  /** For a webhook that is switched off, skips what waits; other webhooks have their turn between two steps. */
  async function claim(webhook: WebhookRef, claim: Claim) {
    const own = ofGroup(db, webhook.org_id);
    const items = await claimDue(own, webhook, claim);
    if (items.length > 0) return { items, hasMore: items.length === claim.atMost };
    const deliveries = await skipWaiting(own, webhook, { ...claim, atMost: maxSkippedAtOnce });
    if (deliveries > 0) skipped.publish({ deliveries });
    return { items, hasMore: deliveries === maxSkippedAtOnce };
  }

  async function deliver(delivery: ClaimedDelivery) {
    const own = ofGroup(db, delivery.org_id);
    try {
      const outcome = await attempt(tools, delivery);
      if (isOurFault(outcome.answer)) await postpone(own, delivery, unsentPostponeSeconds);
      else await recordOutcome(outcome);
    } catch (err) {
      // For example a secret that cannot be opened: other deliveries must not wait for it.
      log.error({ err, delivery_id: delivery.id }, 'a delivery could not be attempted');
      await postpone(own, delivery, faultPostponeSeconds);
    }
  }

  function start(orgId: string, webhookIds: readonly string[]) {
    for (const webhook_id of webhookIds) {
      claims.wake({ org_id: orgId, webhook_id }).catch(() => {}); // it is logged, and tried again
    }
  }

  return { ...claims, start };
}

/**
 * Claims due deliveries of a webhook, oldest first; none of one that is switched off. Retries go first: a backlog
 * must not keep a dead subscriber from failing.
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
           d.attempts, coalesce(d.traceparent, e.traceparent) as traceparent, time_of(d.id) as created_at, w.url, w.secret,
           w.previous_secret, w.retries
    from claimed d
    join events e on e.org_id = ${org_id} and e.id = d.event_id
    cross join webhook w
    order by d.attempts = 0, d.next_attempt_at, d.id`;
}

/**
 * Skips what waits for a webhook that is switched off, so that a replay can deliver it later: some at a
 * time, as a backlog may be long. A replay that was never attempted is deleted: its original is still
 * there to be replayed, and repeated replays do not multiply an event. The webhook is locked first: its
 * deletion would wait for these rows, and they for it. Returns how many there were.
 */
async function skipWaiting(sql: Sql, { org_id, webhook_id }: WebhookRef, claim: Claim) {
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

const takeableBy = (sql: Sql, { by, running }: Claim) => sql`
  ${isClaimable(sql, by)} and id <> all (${running}::uuid[])`;

/** A first attempt is due when it is made, unless it was put off. */
const isFirstTryDue = (sql: Sql) => sql`(next_attempt_at is null or next_attempt_at <= now())`;

/** Gives deliveries back that were claimed and not attempted, so that others can claim them at once. */
async function release(sql: Sql, { org_id, webhook_id }: WebhookRef, ids: readonly string[]) {
  await sql`
    update pending_deliveries
    set claimed_by = null
    where org_id = ${org_id} and webhook_id = ${webhook_id} and id = any (${[...ids]}::uuid[])`;
}

async function listWebhooksDue(sql: Sql, by: string) {
  return await sql<WebhookRef[]>`
    -- all organizations
    select org_id, id as webhook_id
    from webhooks w
    where ${isDue(sql, by)}`;
}

/** Any webhook has due deliveries that the process of this lease may claim. */
export const hasWebhookDue = (sql: Sql, by: string): Part => sql`
  -- all organizations
  exists (select from webhooks w where ${isDue(sql, by)})`;

/**
 * The webhook `w` has due deliveries that no living process has claimed, or that this process claimed a while ago by a
 * commit whose answer was lost.
 */
function isDue(sql: Sql, by: string): Part {
  const left = isLeft(sql, by, sql`coalesce(next_attempt_at, time_of(id))`);
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
  { org_id, webhook_id, attempts, id }: ClaimedDelivery,
  seconds: number,
) {
  await sql`
    update pending_deliveries
    set claimed_by = null, next_attempt_at = now() + make_interval(secs => ${seconds})
    where org_id = ${org_id} and webhook_id = ${webhook_id} and attempts = ${attempts} and id = ${id}`;
}

type AttemptsOf = { orgId: string; webhookId: string; deliveryId: Part };

/** All attempts at a delivery, without an order: those that failed, and the one that delivered from its row. */
export const attemptsOf = (sql: Sql, { orgId, webhookId, deliveryId }: AttemptsOf): Part => sql`
  select number, status_code, response_body, error, duration_ms, at
  from delivery_attempts
  where org_id = ${orgId} and webhook_id = ${webhookId} and delivery_id = ${deliveryId}
  union all
  select attempts, status_code, response_body, null, duration_ms, delivered_at
  from ended_deliveries
  where org_id = ${orgId} and webhook_id = ${webhookId} and id = ${deliveryId} and duration_ms is not null`;
