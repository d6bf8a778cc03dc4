import { skipped } from '../signals.ts';
import { startReady } from './attempts.ts';
import { claimDue, release, skipWaiting, type WebhookRef } from './delivery.queries.ts';
import {
  addReady,
  dbOf,
  isClaiming,
  type QueueTools,
  type ReadyDelivery,
  readyAtMost,
  reportIdle,
  type WebhookQueue,
} from './webhook-queue.ts';

const claimedAtOnce = 64;
const unrecordedAtMost = 1000;
const skippedAtOnce = 1000;
const tryAgainMs = 500;

/** Claims what is due and starts the attempts, until all is claimed or enough is ready. */
export async function wakeQueue(tools: QueueTools, queue: WebhookQueue) {
  if (isClaiming(queue)) {
    queue.state = 'woken';
    return;
  }
  try {
    do {
      queue.state = 'claiming';
      const end = await claim(tools, queue);
      if (end !== 'more') queue.state = end === 'empty' && isWoken(queue) ? 'woken' : end;
    } while (isClaiming(queue) && !tools.isStopping());
    if (isClaiming(queue)) queue.state = 'full';
    if (!tools.isStopping()) tools.claims.worked(queue);
  } catch (error) {
    queue.state = 'broken';
    tools.claims.failed(queue, { err: error, webhook_id: queue.webhook.webhook_id });
    wakeLater(tools, queue);
    throw error;
  } finally {
    reportIdle(tools, queue);
  }
}

const isWoken = ({ state }: WebhookQueue) => state === 'woken';

/** The deliveries of a failed claim may be claimed all the same, and no other process would take them. */
function wakeLater(tools: QueueTools, queue: WebhookQueue) {
  const again = () => {
    if (queue.state === 'broken') void tools.wakeQuietly(queue);
  };
  setTimeout(again, tryAgainMs).unref(); // a process that ends gives up its claims
}

/** One claim. Its end: all that was due is claimed, enough is ready, or there may be more. */
async function claim(tools: QueueTools, queue: WebhookQueue): Promise<'empty' | 'full' | 'more'> {
  const room = readyAtMost + claimedAtOnce - queue.ready.length; // also when own deliveries fill it
  const tooMany = room <= 0 || queue.unrecorded >= unrecordedAtMost;
  if (tooMany || tools.isStopping()) return 'full';
  const atMost = Math.min(claimedAtOnce, room);
  const made = { by: tools.claimer(), atMost, known: queue.known };
  const deliveries = await claimDue(dbOf(tools, queue.webhook), queue.webhook, made);
  if (tools.isStopping()) {
    await releaseAll(tools, queue.webhook, deliveries);
    return 'full';
  }
  if (deliveries.length === 0) return await skip(tools, queue, made.by);
  addReady(queue, deliveries);
  queue.ready.sort(inOrder);
  void startReady(tools, queue);
  return deliveries.length < atMost ? 'empty' : 'full';
}

/**
 * Retries go first: a backlog must not keep a dead subscriber from failing. Then the oldest: what a dead
 * process left does not wait behind what this one commits.
 */
const inOrder = (one: ReadyDelivery, other: ReadyDelivery) =>
  Number(other.attempts > 0) - Number(one.attempts > 0) ||
  one.created_at.getTime() - other.created_at.getTime();

/** If it fails, the end of the lease sets them free. */
async function releaseAll(tools: QueueTools, webhook: WebhookRef, claimed: { id: string }[]) {
  const ids = claimed.map(({ id }) => id);
  await release(dbOf(tools, webhook), webhook, ids).catch(() => {});
}

/** For a webhook that is switched off; other webhooks have their turn between two steps. */
async function skip(tools: QueueTools, { webhook, known }: WebhookQueue, by: string) {
  const deliveries = await skipWaiting(dbOf(tools, webhook), webhook, {
    by,
    atMost: skippedAtOnce,
    known,
  });
  if (deliveries > 0) skipped.publish({ deliveries });
  return deliveries === skippedAtOnce ? 'more' : 'empty';
}
