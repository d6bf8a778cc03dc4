import { createFairSweep } from '../lib/async/fair-sweep.ts';
import { createOutage } from '../lib/log/outage.ts';
import { offer } from './attempts.ts';
import { wakeQueue } from './claim.ts';
import { listWebhooksDue, release, type WebhookRef } from './delivery.queries.ts';
import type { EmittedDelivery, NewEvents } from './emit.cte.ts';
import { createRecorder, type RecordTools } from './recorder.ts';
import { dropReady, newQueue, type QueueTools, type WebhookQueue } from './webhook-queue.ts';

export type DeliveryWorker = ReturnType<typeof createDeliveryWorker>;
export type WorkerTools = RecordTools &
  Omit<QueueTools, 'isStopping' | 'onIdle' | 'record' | 'wakeQuietly' | 'claims'>;

const organizationOf = ({ org_id }: WebhookRef) => org_id;

/**
 * Delivers through a queue for each webhook that has deliveries due. What this process commits itself is
 * handed over in memory and owned by its lease, so that nothing is written before the outcome; everything
 * else is claimed: retries at their time, and what a dead process owned. Queues share nothing, so a slow
 * webhook, or one with a long backlog, delays no other. A job only wakes a queue, so that it holds no
 * runner while a subscriber hangs.
 */
export function createDeliveryWorker(given: WorkerTools) {
  const queues = new Map<string, WebhookQueue>();
  const recorder = createRecorder(given);
  const forEachDue = createFairSweep(organizationOf);
  let stopping = false;
  let allIdle = () => {};
  const tools: QueueTools = {
    ...given,
    record: recorder.record,
    claims: createOutage(given.log, {
      begins: 'no deliveries claimed, trying on',
      over: 'deliveries are claimed again',
    }),
    isStopping: () => stopping,
    onIdle({ webhook_id }) {
      queues.delete(webhook_id);
      if (queues.size === 0) allIdle();
    },
    wakeQuietly,
  };

  function queueOf(webhook: WebhookRef) {
    const queue = queues.get(webhook.webhook_id) ?? newQueue(webhook);
    queues.set(webhook.webhook_id, queue);
    return queue;
  }

  /** Looks for due deliveries of a webhook; resolves once the attempts it may start have started. */
  const wake = (webhook: WebhookRef) => wakeQueue(tools, queueOf(webhook));

  /** While Postgres is away nothing is claimed; the queue tries again by itself. */
  async function wakeQuietly(queue: WebhookQueue) {
    await wakeQueue(tools, queue).catch(() => {});
  }

  /** Attempts deliveries that this process has committed under its own lease. */
  function start(
    { orgId, events, traceparent = null }: NewEvents,
    emitted: readonly EmittedDelivery[],
  ) {
    if (stopping) return;
    for (const { id, webhook_id, place, created_at, ...target } of emitted) {
      const { type: event, body } = events[place - 1]!;
      offer(tools, queueOf({ org_id: orgId, webhook_id }), {
        id,
        org_id: orgId,
        webhook_id,
        message_id: id,
        event,
        body,
        attempts: 0,
        traceparent,
        created_at: new Date(created_at),
        url: target.url,
        retries: target.retries,
        secret: Buffer.from(target.secret, 'base64'),
        previous_secret: target.previous_secret
          ? Buffer.from(target.previous_secret, 'base64')
          : null,
      });
    }
  }

  /** Wakes every webhook with something due, as a crash or a lost job leaves it. */
  async function sweep() {
    await forEachDue(await listWebhooksDue(given.db, given.claimer()), wake);
  }

  /** Claims no more deliveries and starts no more attempts. */
  function takeNoMore() {
    stopping = true;
    recorder.hurry();
  }

  /** The same; resolves when those in flight are attempted and recorded. */
  async function stop() {
    takeNoMore();
    const idle = new Promise<void>((resolve) => {
      allIdle = resolve;
    });
    await Promise.all([...queues.values()].map(letGo));
    if (queues.size > 0) await idle;
  }

  /** If it fails, the end of the lease sets the deliveries free. */
  async function letGo(queue: WebhookQueue) {
    const ids = dropReady(queue);
    if (ids.length > 0) await release(given.db, queue.webhook, ids).catch(() => {});
    await wakeQuietly(queue);
  }

  return { owner: given.claimer, wake, start, sweep, takeNoMore, stop };
}
