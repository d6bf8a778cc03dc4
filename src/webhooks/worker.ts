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

type Target = Omit<WebhookTarget, 'active'>;

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
/** Age at which cached webhooks are read again. */
const targetFreshMs = 100;
const maxTargets = 1000;
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
  const recorder = createRecorder(tools);
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
    for (const { id, webhook_id, place, url, retries, ...row } of emitted) {
      const { type: event, body } = events[place - 1]!;
      const delivery = {
        id,
        org_id: orgId,
        webhook_id,
        message_id: id,
        event,
        body,
        attempts: 0,
        traceparent,
        created_at: new Date(row.created_at),
        url,
        retries,
        secret: Buffer.from(row.secret, 'base64'),
        previous_secret: row.previous_secret ? Buffer.from(row.previous_secret, 'base64') : null,
      };
      targets.keep(delivery);
      claims.offer({ org_id: orgId, webhook_id }, delivery);
    }
  }

  /** Skips pending deliveries of an inactive webhook in steps, so that other webhooks get their turn. */
  async function claim(webhook: WebhookRef, claim: Claim) {
    const own = poolForGroup(db, webhook.org_id);
    const items = await claimDue(own, webhook, claim);
    if (items[0]) {
      targets.keep(items[0]);
      return { items, hasMore: items.length === claim.atMost };
    }
    const deliveries = await skipWaiting(own, webhook, { ...claim, atMost: maxSkippedAtOnce });
    if (deliveries > 0) skipped.publish({ deliveries });
    return { items, hasMore: deliveries === maxSkippedAtOnce };
  }

  /** Leaves deliveries of inactive webhooks and erased excerpts to the next claim. */
  async function deliver(
    claimed: ClaimedDelivery,
  ): Promise<AttemptOutcome | Postponed | typeof requeue> {
    const target = await targets.get(claimed);
    if (!target) return requeue;
    const delivery = { ...claimed, ...target };
    if (hasExcerpt(delivery) && !(await isWaiting(poolForGroup(db, delivery.org_id), delivery))) {
      return requeue;
    }
    try {
      const outcome = await attempt(tools, delivery);
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
    await recorder.record(outcome);
    if (outcome.verdict.status !== 'delivered') targets.drop(delivery); // the failure may have turned the webhook off
  }

  function stopClaiming() {
    claims.stopClaiming();
    recorder.hurry();
  }

  async function stop() {
    stopClaiming();
    await claims.stop();
  }

  return { owner: claimer, wake: claims.wake, start, sweep: claims.sweep, stopClaiming, stop };
}

/** Personal data may have been erased while the delivery was in memory, so the delivery must be looked up before sending. */
const hasExcerpt = ({ event, body }: ClaimedDelivery) =>
  personalEventTypes.some((type) => type === event) &&
  !body.includes(noExcerpt) &&
  (event !== 'response.completed' || body.includes(textAnswer));

/** Caches URLs and secrets briefly, so that an inactive webhook soon gets no more deliveries. */
function createTargets(db: Db) {
  type Read = Target | undefined | Promise<Target | undefined>;
  const cache = new Map<string, { target: Read; readAt: number }>();

  function set({ webhook_id }: WebhookRef, target: Read) {
    if (cache.size >= maxTargets) cache.clear();
    cache.set(webhook_id, { target, readAt: performance.now() });
  }

  function keep(delivery: ClaimedDelivery) {
    const { url, secret, previous_secret, retries } = delivery;
    set(delivery, { url, secret, previous_secret, retries });
  }

  /** Undefined for inactive and deleted webhooks. Concurrent attempts share one read. */
  function get(webhook: WebhookRef): Read {
    const { org_id, webhook_id } = webhook;
    const cached = cache.get(webhook_id);
    if (cached && performance.now() - cached.readAt < targetFreshMs) return cached.target;
    const target = findTarget(poolForGroup(db, org_id), org_id, webhook_id).then((row) =>
      row?.active ? row : undefined,
    );
    set(webhook, target);
    target.catch(() => cache.delete(webhook_id));
    return target;
  }

  return { keep, get, drop: ({ webhook_id }: WebhookRef) => cache.delete(webhook_id) };
}
