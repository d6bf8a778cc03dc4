import { listWebhooksDue, type WebhookRef } from './delivery.queries.ts';
import { newQueue, type QueueTools, type WebhookQueue, wakeQueue } from './webhook-queue.ts';

export type DeliveryWorker = ReturnType<typeof createDeliveryWorker>;
export type WorkerTools = Omit<QueueTools, 'isStopping' | 'onIdle'>;

/**
 * Delivers through a queue for each webhook that has deliveries due: it claims a few, attempts them at the
 * same time, and claims the next as these end. Queues share nothing, so a slow webhook, or one with a long
 * backlog, delays no other. A job only wakes a queue, so that it holds no runner while a subscriber hangs.
 */
export function createDeliveryWorker(given: WorkerTools) {
  const queues = new Map<string, WebhookQueue>();
  let stopping = false;
  let allIdle = () => {};
  const onIdle = ({ webhook_id }: WebhookRef) => {
    queues.delete(webhook_id);
    if (queues.size === 0) allIdle();
  };
  const tools: QueueTools = { ...given, isStopping: () => stopping, onIdle };

  /** Looks for due deliveries of a webhook; resolves once the attempts it may start have started. */
  async function wake(webhook: WebhookRef) {
    const queue = queues.get(webhook.webhook_id) ?? newQueue(webhook);
    queues.set(webhook.webhook_id, queue);
    await wakeQueue(tools, queue);
  }

  /** Wakes every webhook with something due, as a crash or a lost job leaves it. */
  async function sweep() {
    for (const webhook of await listWebhooksDue(tools.db)) await wake(webhook);
  }

  /** Claims no more deliveries. */
  function takeNoMore() {
    stopping = true;
  }

  /** The same; resolves when those in flight are attempted and recorded. */
  async function stop() {
    takeNoMore();
    const idle = new Promise<void>((resolve) => {
      allIdle = resolve;
    });
    await Promise.all([...queues.values()].map((queue) => wakeQueue(tools, queue)));
    if (queues.size > 0) await idle;
  }

  return { wake, sweep, takeNoMore, stop };
}
