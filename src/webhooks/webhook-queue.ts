import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { skipped } from '../signals.ts';
import { type AttemptOutcome, attempt, type DeliverTools, isOurFault, record } from './deliver.ts';
import {
  type ClaimedDelivery,
  claimDue,
  postpone,
  skipWaiting,
  type WebhookRef,
} from './delivery.queries.ts';

/** Attempts of one webhook in flight at once: a subscriber that hangs holds no more than these. */
export const inFlightPerWebhook = 16;
const outcomesPerTransaction = 200;
const skippedAtOnce = 1000;
const tryAgainMs = 500;
const unsentPostponeSeconds = 1;
const faultPostponeSeconds = 60;

export type QueueTools = DeliverTools & {
  db: Db;
  log: Log;
  pump: () => void;
  /** The lease in whose name deliveries are claimed: when it ends, they are free again. */
  claimer: () => string;
  isStopping: () => boolean;
  /** Called when nothing of the webhook is left to do here. */
  onIdle: (webhook: WebhookRef) => void;
};

/**
 * The queue of one webhook in this process. Its state says what is known of deliveries that are due:
 *
 *   state    | meaning                                        | leaves it
 *   ---------|------------------------------------------------|------------------------------------------
 *   empty    | the last claim found all there was             | wake -> claiming
 *   claiming | a claim is under way                           | it ends -> empty, full, claiming or broken
 *            |                                                | wake -> woken
 *   woken    | a claim is under way, another one must follow  | it ends -> claiming, full or broken
 *   full     | there may be more than the limits allow        | wake, an end or a record -> claiming
 *   broken   | a claim failed, and may have been made         | wake or timer -> claiming
 */
export type WebhookQueue = {
  webhook: WebhookRef;
  state: 'empty' | 'claiming' | 'woken' | 'full' | 'broken';
  inFlight: number;
  /** Claimed, and not recorded or given back yet. */
  claimed: Set<string>;
  unrecorded: AttemptOutcome[];
  recording: boolean;
};

export const newQueue = ({ org_id, webhook_id }: WebhookRef): WebhookQueue => ({
  webhook: { org_id, webhook_id },
  state: 'empty',
  inFlight: 0,
  claimed: new Set(),
  unrecorded: [],
  recording: false,
});

/** Claims what is due and starts the attempts, until all is claimed or the limits are reached. */
export async function wakeQueue(tools: QueueTools, queue: WebhookQueue) {
  if (isClaiming(queue)) {
    queue.state = 'woken';
    return;
  }
  try {
    do {
      queue.state = 'claiming';
      const end = await claimAndStart(tools, queue);
      if (end !== 'more') queue.state = end === 'empty' && isWoken(queue) ? 'woken' : end;
    } while (isClaiming(queue) && !tools.isStopping());
    if (isClaiming(queue)) queue.state = 'full';
  } catch (error) {
    queue.state = 'broken';
    wakeLater(tools, queue);
    throw error;
  } finally {
    reportIdle(tools, queue);
  }
}

const isWoken = ({ state }: WebhookQueue) => state === 'woken';
const isClaiming = ({ state }: WebhookQueue) => state === 'claiming' || state === 'woken';

/** The deliveries of a failed claim may be claimed all the same, and no other process would take them. */
function wakeLater(tools: QueueTools, queue: WebhookQueue) {
  const again = () => void (queue.state === 'broken' && wakeQuietly(tools, queue));
  setTimeout(again, tryAgainMs).unref(); // a process that ends gives up its claims
}

/** While Postgres is away nothing is claimed; the queue tries again by itself. */
async function wakeQuietly(tools: QueueTools, queue: WebhookQueue) {
  const { webhook_id } = queue.webhook;
  await wakeQueue(tools, queue).catch((err) =>
    tools.log.warn({ err, webhook_id }, 'no deliveries claimed'),
  );
}

/** One claim. Its end: all that was due is claimed, the limits are reached, or there may be more. */
async function claimAndStart(
  tools: QueueTools,
  queue: WebhookQueue,
): Promise<'empty' | 'full' | 'more'> {
  const atMost = inFlightPerWebhook - queue.inFlight;
  const tooManyUnrecorded = queue.unrecorded.length >= outcomesPerTransaction;
  if (atMost <= 0 || tooManyUnrecorded || tools.isStopping()) return 'full';
  const claim = { by: tools.claimer(), atMost, claimed: queue.claimed };
  const deliveries = await claimDue(tools.db, queue.webhook, claim);
  queue.inFlight += deliveries.length;
  for (const delivery of deliveries) {
    queue.claimed.add(delivery.id);
    void attempt(tools, delivery).then(
      (outcome) => finish(tools, queue, outcome),
      (error: unknown) => giveBackBroken(tools, queue, { delivery, error }),
    );
  }
  if (deliveries.length > 0) return deliveries.length < atMost ? 'empty' : 'more';
  return await skip(tools, queue, claim.by);
}

/** For a webhook that is switched off; other webhooks have their turn between two steps. */
async function skip(tools: QueueTools, { webhook, claimed }: WebhookQueue, by: string) {
  const deliveries = await skipWaiting(tools.db, webhook, { by, atMost: skippedAtOnce, claimed });
  if (deliveries > 0) skipped.publish({ deliveries });
  return deliveries === skippedAtOnce ? 'more' : 'empty';
}

function finish(tools: QueueTools, queue: WebhookQueue, outcome: AttemptOutcome) {
  if (isOurFault(outcome.answer)) {
    void giveBack(tools, queue, { delivery: outcome.delivery, seconds: unsentPostponeSeconds });
    return;
  }
  queue.inFlight -= 1;
  queue.unrecorded.push(outcome);
  void recordAll(tools, queue);
  if (queue.state === 'full') void wakeQuietly(tools, queue);
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
  await postpone(tools.db, delivery, seconds).catch(() => {});
  queue.inFlight -= 1;
  queue.claimed.delete(delivery.id);
  void wakeQuietly(tools, queue);
}

/** While one group is written the next one gathers: the busier the webhook, the larger the groups. */
async function recordAll(tools: QueueTools, queue: WebhookQueue) {
  if (queue.recording) return;
  queue.recording = true;
  while (queue.unrecorded.length > 0) {
    const group = queue.unrecorded.slice(0, outcomesPerTransaction);
    if (await save(tools, queue, group)) remove(tools, queue, group);
    else await sleep(tryAgainMs);
  }
  queue.recording = false;
  reportIdle(tools, queue);
}

function remove(tools: QueueTools, queue: WebhookQueue, group: readonly AttemptOutcome[]) {
  queue.unrecorded.splice(0, group.length);
  for (const { delivery } of group) queue.claimed.delete(delivery.id);
  if (queue.state === 'full') void wakeQuietly(tools, queue);
}

/** While Postgres is away outcomes stay in memory: they are written when it is back. */
async function save(
  { db, log, pump }: QueueTools,
  { webhook }: WebhookQueue,
  group: readonly AttemptOutcome[],
) {
  try {
    if (await record(db, webhook, group)) pump();
    return true;
  } catch (error) {
    log.warn({ err: error, webhook_id: webhook.webhook_id }, 'attempts not recorded yet');
    return false;
  }
}

/** What a queue that is full leaves to others when the process stops, and a broken one may have claimed. */
function reportIdle(tools: QueueTools, queue: WebhookQueue) {
  const { state, inFlight, recording, unrecorded, webhook } = queue;
  if (isClaiming(queue) || inFlight > 0 || recording || unrecorded.length > 0) return;
  if (state === 'empty' || tools.isStopping()) tools.onIdle(webhook);
}
