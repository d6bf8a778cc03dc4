import type { Db } from '../lib/db/db.ts';
import { poolForGroup } from '../lib/db/fair-pool.ts';
import type { Log } from '../lib/log/log.ts';
import { type Claim, createClaims, requeue } from '../lib/work/claims.ts';
import { skipped } from '../signals.ts';
import { type AttemptOutcome, attempt, type DeliverTools, isOurFault } from './deliver.ts';
import {
  type ClaimedDelivery,
  claimDue,
  isWaiting,
  listWebhooksDue,
  postpone,
  release,
  skipWaiting,
  type WebhookRef,
} from './delivery.queries.ts';
import type { EmittedDelivery, NewEvents } from './emit.ts';
import { noExcerpt, personalEventTypes, textAnswer } from './events.ts';
import { findTarget, type WebhookTarget } from './queries.ts';
import { createRecorder } from './record.ts';

export type DeliveryWorker = ReturnType<typeof createDeliveryWorker>;

type WorkerTools = DeliverTools & {
  db: Db;
  log: Log;
  /** Lease that owns the claims. */
  claimer: () => string;
};

/** Concurrent attempts per webhook: the most that a hanging subscriber can hold. */
export const maxInFlight = 16;
const limits = { running: maxInFlight, claim: 64, ready: 256, known: 1000 };
const maxSkippedAtOnce = 1000;
const targetFreshMs = 100;
const unsentPostponeSeconds = 1;
const faultPostponeSeconds = 60;
const outage = {
  begins: 'cannot claim deliveries, retrying',
  over: 'claiming deliveries again',
};

type Postponed = { delivery: ClaimedDelivery; postponeSeconds: number };

/**
 * Delivers events to webhooks. Deliveries that this process commits are handed over in memory, claimed by its lease.
 * All others are claimed from the table: retries and replays by a job, deliveries of a dead process by the sweep.
 */
export function createDeliveryWorker(tools: WorkerTools) {
  const { db, log, claimer } = tools;
  const targets = createTargets(db);
  const recordOutcome = createRecorder(tools);
  const claims = createClaims<WebhookRef, ClaimedDelivery, AttemptOutcome | Postponed>({
    log,
    outage,
    limits,
    lease: claimer,
    keyOf: ({ webhook_id }) => webhook_id,
    fieldsOf: ({ webhook_id }) => ({ webhook_id }),
    tenantOf: ({ org_id }) => org_id,
    listDue: (by) => listWebhooksDue(db, by),
    claim,
    release: (webhook, ids) => release(poolForGroup(db, webhook.org_id), webhook, ids),
    run: deliver,
    record,
  });

  /** Takes deliveries that this process committed under its lease. */
  function start(
    { orgId, events, traceparent = null }: NewEvents,
    emitted: readonly EmittedDelivery[],
  ) {
    for (const { id, webhook_id, place, created_at, webhook_updated_at } of emitted) {
      const { type: event, body } = events[place - 1]!;
      claims.offer(
        { org_id: orgId, webhook_id },
        {
          id,
          org_id: orgId,
          webhook_id,
          message_id: id,
          event,
          body,
          attempts: 0,
          traceparent,
          created_at: new Date(created_at),
          webhook_updated_at: new Date(webhook_updated_at),
        },
      );
    }
  }

  /** Skips pending deliveries of an inactive webhook in steps, so that other webhooks get their turn. */
  async function claim(webhook: WebhookRef, claim: Claim) {
    const own = poolForGroup(db, webhook.org_id);
    const items = await claimDue(own, webhook, claim);
    if (items.length > 0) return { items, hasMore: items.length === claim.atMost };
    const deliveries = await skipWaiting(own, webhook, { ...claim, atMost: maxSkippedAtOnce });
    if (deliveries > 0) skipped.publish({ deliveries });
    return { items, hasMore: deliveries === maxSkippedAtOnce };
  }

  /** Leaves deliveries of inactive webhooks and erased excerpts to the next claim. */
  async function deliver(
    delivery: ClaimedDelivery,
  ): Promise<AttemptOutcome | Postponed | typeof requeue> {
    const target = await targets.get(delivery);
    if (!target?.active) return requeue;
    if (hasExcerpt(delivery) && !(await isWaiting(poolForGroup(db, delivery.org_id), delivery))) {
      return requeue;
    }
    try {
      const outcome = await attempt(tools, delivery, target);
      return isOurFault(outcome.answer)
        ? { delivery, postponeSeconds: unsentPostponeSeconds }
        : outcome;
    } catch (err) {
      // One cause is a secret that cannot be opened. Other deliveries must not wait for this delivery.
      log.error({ err, delivery_id: delivery.id }, 'a delivery could not be attempted');
      return { delivery, postponeSeconds: faultPostponeSeconds };
    }
  }

  async function record(outcome: AttemptOutcome | Postponed) {
    const { delivery } = outcome;
    if ('postponeSeconds' in outcome) {
      return await postpone(poolForGroup(db, delivery.org_id), delivery, outcome.postponeSeconds);
    }
    await recordOutcome(outcome);
    if (outcome.verdict.status !== 'delivered') targets.drop(delivery); // the failure may have turned the webhook off
  }

  const { wake, sweep, stopClaiming, stop } = claims;
  return { owner: claimer, wake, start, sweep, stopClaiming, stop };
}

/** Personal data may have been erased while the delivery was in memory, so the delivery must be looked up before sending. */
const hasExcerpt = ({ event, body }: ClaimedDelivery) =>
  personalEventTypes.some((type) => type === event) &&
  !body.includes(noExcerpt) &&
  (event !== 'response.completed' || body.includes(textAnswer));

/** Caches webhooks briefly, so that an inactive one soon gets no more deliveries. Concurrent attempts share one read. */
function createTargets(db: Db) {
  const cache = new Map<string, Promise<WebhookTarget | undefined>>();

  async function get(delivery: ClaimedDelivery) {
    const cached = cache.get(delivery.webhook_id);
    const target = cached && (await cached);
    const isFresh = target && target.updated_at >= delivery.webhook_updated_at;
    return isFresh ? target : await read(delivery);
  }

  function read({ org_id, webhook_id }: WebhookRef) {
    const target = findTarget(poolForGroup(db, org_id), org_id, webhook_id);
    cache.set(webhook_id, target);
    const drop = () => cache.delete(webhook_id);
    setTimeout(drop, targetFreshMs).unref();
    target.catch(drop);
    return target;
  }

  return { get, drop: ({ webhook_id }: WebhookRef) => cache.delete(webhook_id) };
}
