import { type AttemptOutcome, attempt, isOurFault } from './deliver.ts';
import { type ClaimedDelivery, isWaiting, postpone } from './delivery.queries.ts';
import { findActiveTarget, type WebhookTarget } from './queries.ts';
import {
  addReady,
  dbOf,
  dropReady,
  inFlightPerWebhook,
  isClaiming,
  type QueueTools,
  readyAtMost,
  reportIdle,
  type WebhookQueue,
} from './webhook-queue.ts';

const unsentPostponeSeconds = 1;
const faultPostponeSeconds = 60;
/** A delivery that waited is posted without reading its webhook again, if that was read so recently. */
const targetFreshMs = 100;

/** Takes a delivery that this process has just committed. Without room for it, it waits in the table. */
export function offer(tools: QueueTools, queue: WebhookQueue, delivery: ClaimedDelivery) {
  if (queue.ready.length >= readyAtMost || tools.isStopping()) {
    queue.state = isClaiming(queue) ? 'woken' : 'full';
    return;
  }
  addReady(queue, [delivery]);
  void startReady(tools, queue);
}

/** Starts as many attempts as there is room for; claims more when only few are left to start. */
export async function startReady(tools: QueueTools, queue: WebhookQueue) {
  if (queue.starting) return;
  queue.starting = true;
  try {
    while (mayStart(tools, queue)) {
      const target = freshTarget(queue) ?? (await readTarget(tools, queue));
      if (!target) dropReady(queue);
      else if (mayStart(tools, queue)) start(tools, queue, target);
    }
  } catch (err) {
    dropReady(queue);
    tools.log.warn({ err, webhook_id: queue.webhook.webhook_id }, 'a webhook could not be read');
  } finally {
    queue.starting = false;
  }
  if (queue.state === 'full' && queue.ready.length < inFlightPerWebhook && !tools.isStopping()) {
    void tools.wakeQuietly(queue);
  }
  reportIdle(tools, queue);
}

const mayStart = (tools: QueueTools, { ready, inFlight }: WebhookQueue) =>
  ready.length > 0 && inFlight < inFlightPerWebhook && !tools.isStopping();

const freshTarget = ({ target }: WebhookQueue) =>
  target && performance.now() - target.readAt < targetFreshMs ? target : undefined;

/** Nothing for a webhook that is switched off or gone: its deliveries are then skipped by a claim. */
async function readTarget(tools: QueueTools, queue: WebhookQueue) {
  const { webhook } = queue;
  const { org_id, webhook_id } = webhook;
  const target = await findActiveTarget(dbOf(tools, webhook), org_id, webhook_id);
  queue.target = target && { ...target, readAt: performance.now() };
  return queue.target;
}

function start(tools: QueueTools, queue: WebhookQueue, target: WebhookTarget) {
  const { url, secret, previous_secret, retries } = target;
  const delivery = { ...queue.ready.shift()!, url, secret, previous_secret, retries };
  queue.inFlight += 1;
  void attemptUnlessErased(tools, delivery).then(
    (outcome) => (outcome ? finish(tools, queue, outcome) : letGo(tools, queue, delivery)),
    (error: unknown) => giveBackBroken(tools, queue, { delivery, error }),
  );
}

/**
 * The excerpt of a comment may have been erased while its delivery was in memory. Only deliveries with an excerpt are
 * looked up: no other one needs a statement between its commit and its outcome.
 */
async function attemptUnlessErased(tools: QueueTools, delivery: ClaimedDelivery) {
  if (hasExcerpt(delivery) && !(await isWaiting(dbOf(tools, delivery), delivery))) return undefined;
  return await attempt(tools, delivery);
}

const hasExcerpt = ({ event, body }: ClaimedDelivery) =>
  event === 'detractor.detected' && !body.includes('"comment":null');

async function finish(tools: QueueTools, queue: WebhookQueue, outcome: AttemptOutcome) {
  const { delivery } = outcome;
  if (isOurFault(outcome.answer)) {
    return await giveBack(tools, queue, { delivery, seconds: unsentPostponeSeconds });
  }
  queue.inFlight -= 1;
  queue.unrecorded += 1;
  void startReady(tools, queue);
  await tools.record(outcome);
  queue.unrecorded -= 1;
  queue.known.delete(delivery.id);
  if (outcome.verdict.status !== 'delivered') queue.target = undefined; // it may be switched off now
  void startReady(tools, queue);
}

type BrokenAttempt = { delivery: ClaimedDelivery; error: unknown };

/** The attempt itself failed, for example at a secret that cannot be opened: others must not wait for it. */
async function giveBackBroken(tools: QueueTools, queue: WebhookQueue, broken: BrokenAttempt) {
  const { delivery, error: err } = broken;
  tools.log.error({ err, delivery_id: delivery.id }, 'a delivery could not be attempted');
  await giveBack(tools, queue, { delivery, seconds: faultPostponeSeconds });
}

type GivenBack = { delivery: ClaimedDelivery; seconds: number };

async function giveBack(tools: QueueTools, queue: WebhookQueue, { delivery, seconds }: GivenBack) {
  await postpone(dbOf(tools, delivery), delivery, seconds).catch(() => {});
  letGo(tools, queue, delivery);
}

function letGo(tools: QueueTools, queue: WebhookQueue, delivery: ClaimedDelivery) {
  queue.inFlight -= 1;
  queue.known.delete(delivery.id);
  void startReady(tools, queue);
}
