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
import { findTarget, type WebhookTarget } from './queries.ts';
import { createRecorder } from './record.ts';

type Target = Omit<WebhookTarget, 'active'>;

export type DeliveryWorker = ReturnType<typeof createDeliveryWorker>;

type WorkerTools = DeliverTools & {
  db: Db;
  log: Log;
  /** The lease in whose name deliveries are claimed. */
  claimer: () => string;
};

/** Attempts of one webhook in flight at once: a subscriber that hangs holds no more than these. */
export const maxInFlight = 16;
const limits = { running: maxInFlight, claim: 64, ready: 256, known: 1000 };
const maxSkippedAtOnce = 1000;
/** A delivery is posted without reading its webhook again if that was read so recently. */
const targetFreshMs = 100;
const maxTargets = 1000;
const unsentPostponeSeconds = 1;
const faultPostponeSeconds = 60;
const outage = {
  begins: 'no deliveries claimed, trying on',
  over: 'deliveries are claimed again',
};

type Postponed = { delivery: ClaimedDelivery; postponeSeconds: number };

/**
 * Delivers events to webhooks. What this process commits itself is handed over in memory and owned by its lease, so
 * that nothing is written before the outcome. Everything else is claimed: retries and replays, for which a job wakes
 * the webhook, and what a dead process owned, which the sweep finds.
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

  /** Takes deliveries that this process has committed under its own lease. */
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

  /** For a webhook that is switched off, skips what waits; other webhooks have their turn between two steps. */
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

  /** Leaves it when the webhook is switched off or the excerpt was erased: the next claim finds out. */
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
      // For example a secret that cannot be opened: other deliveries must not wait for it.
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
    if (outcome.verdict.status !== 'delivered') targets.drop(delivery); // it may be switched off now
  }

  /** From now on no outcome waits for others to be written with. */
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

/**
 * The excerpt of a comment may have been erased while its delivery was in memory. Only deliveries with an excerpt are
 * looked up: no other one needs a statement between its commit and its outcome.
 */
const hasExcerpt = ({ event, body }: ClaimedDelivery) =>
  event === 'detractor.detected' && !body.includes('"comment":null');

/** Caches the addresses and secrets of webhooks: one that is switched off gets nothing more when they are stale. */
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

  /** Undefined for a webhook that is switched off or gone. Attempts that start together read it once. */
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
