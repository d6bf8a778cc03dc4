import type { Db } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { skipped } from '../signals.ts';
import { attempt, type DeliverTools, isOurFault, type Outcome, record } from './deliver.ts';
import {
  type ClaimedDelivery,
  claimDue,
  type Lane,
  listLanesDue,
  postpone,
  skipWaiting,
} from './delivery.queries.ts';
import { newQueue, type WebhookQueue } from './worker-state.ts';

/** Attempts of one webhook under way at once: a subscriber that hangs holds no more than these. */
export const inFlightPerWebhook = 16;
const outcomesPerTransaction = 200;
const skippedAtOnce = 1000;
const tryAgainMs = 500;
const unsentPostponeSeconds = 1;
const faultPostponeSeconds = 60;

type LaneTools = DeliverTools & {
  db: Db;
  log: Log;
  pump: () => void;
  /** The worker pool in whose name deliveries are claimed: when it dies, they are free again. */
  claimer: () => string;
};

export type DeliveryWorker = ReturnType<typeof createDeliveryWorker>;

/**
 * A lane for each webhook that has deliveries due: it claims a few, attempts them side by side, and
 * claims the next as these end. Webhooks share nothing, so one that is slow, or has a long backlog,
 * delays nobody else; and a job only wakes a lane, so that it holds no worker while a subscriber hangs.
 */
export function createDeliveryWorker(tools: LaneTools) {
  const lanes = new Map<string, WebhookQueue>();
  let stopping = false;
  let onIdle: (() => void) | null = null;

  /** Looks for due deliveries of a webhook; resolves once those it may take are on their way. */
  async function wake(which: Lane) {
    const lane = lanes.get(which.webhook_id) ?? newQueue(which);
    lanes.set(which.webhook_id, lane);
    await fill(lane);
  }

  /** Wakes every webhook with something due: whatever a crash or a lost job left behind. */
  async function sweep() {
    for (const lane of await listLanesDue(tools.db)) await wake(lane);
  }

  async function fill(lane: WebhookQueue) {
    lane.fillAgain = true;
    if (lane.filling) return;
    lane.filling = true;
    try {
      while (lane.fillAgain && !stopping) {
        lane.fillAgain = false;
        await claimAndStart(lane);
      }
    } catch (error) {
      fillLater(lane);
      throw error;
    } finally {
      lane.filling = false;
      retire(lane);
    }
  }

  /** A claim that failed may have been made all the same, and nobody else would look after it. */
  function fillLater(lane: WebhookQueue) {
    if (lane.tryingAgain) return;
    lane.tryingAgain = true;
    const again = () => {
      lane.tryingAgain = false;
      void refill(lane);
    };
    setTimeout(again, tryAgainMs).unref(); // a process that ends lets go of its claims
  }

  async function claimAndStart(lane: WebhookQueue) {
    const atMost = inFlightPerWebhook - lane.inFlight;
    lane.heldBack = lane.outcomes.length >= outcomesPerTransaction;
    lane.drained = false;
    if (atMost <= 0 || lane.heldBack) return;
    const claim = { by: tools.claimer(), atMost, inHand: lane.inHand };
    const claimed = await claimDue(tools.db, lane, claim);
    if (claimed.length === 0) await skip(lane, claim.by);
    lane.drained = claimed.length < atMost;
    lane.inFlight += claimed.length;
    for (const delivery of claimed) {
      lane.inHand.add(delivery.id);
      void attempt(tools, delivery).then(
        (outcome) => settle(lane, outcome),
        (error: unknown) => giveBackBroken(lane, delivery, error),
      );
    }
  }

  /** Of a webhook that is switched off; between two steps others have their turn. */
  async function skip(lane: WebhookQueue, by: string) {
    const { inHand } = lane;
    const deliveries = await skipWaiting(tools.db, lane, { by, atMost: skippedAtOnce, inHand });
    if (deliveries === skippedAtOnce) lane.fillAgain = true;
    if (deliveries > 0) skipped.publish({ deliveries });
  }

  function settle(lane: WebhookQueue, outcome: Outcome) {
    if (isOurFault(outcome.answer)) {
      void giveBack(lane, outcome.delivery, unsentPostponeSeconds);
      return;
    }
    lane.inFlight -= 1;
    lane.outcomes.push(outcome);
    void recordAll(lane);
    if (!lane.drained) void refill(lane);
  }

  /** We could not even try, a secret that cannot be opened say: others must not wait for it. */
  async function giveBackBroken(lane: WebhookQueue, delivery: ClaimedDelivery, error: unknown) {
    tools.log.error({ err: error, delivery_id: delivery.id }, 'a delivery could not be attempted');
    await giveBack(lane, delivery, faultPostponeSeconds);
  }

  async function giveBack(lane: WebhookQueue, delivery: ClaimedDelivery, seconds: number) {
    await postpone(tools.db, delivery, seconds).catch(() => {});
    lane.inFlight -= 1;
    lane.inHand.delete(delivery.id);
    void refill(lane);
  }

  /** While Postgres is away nothing is claimed; the lane tries again by itself. */
  async function refill(lane: WebhookQueue) {
    await fill(lane).catch((error: unknown) =>
      tools.log.warn({ err: error, webhook_id: lane.webhook_id }, 'no deliveries claimed'),
    );
  }

  /** While one group is written the next one gathers: the busier the lane, the larger the groups. */
  async function recordAll(lane: WebhookQueue) {
    if (lane.recording) return;
    lane.recording = true;
    while (lane.outcomes.length > 0) {
      const group = lane.outcomes.slice(0, outcomesPerTransaction);
      const saved = await save(lane, group);
      if (saved) forget(lane, group);
      else await new Promise((later) => setTimeout(later, tryAgainMs));
    }
    lane.recording = false;
    retire(lane);
  }

  function forget(lane: WebhookQueue, group: readonly Outcome[]) {
    lane.outcomes.splice(0, group.length);
    for (const { delivery } of group) lane.inHand.delete(delivery.id);
    if (lane.heldBack) void refill(lane);
  }

  /** What happened must not be forgotten because Postgres is away: it is written when it is back. */
  async function save(lane: WebhookQueue, group: readonly Outcome[]): Promise<boolean> {
    try {
      if (await record(tools.db, lane, group)) tools.pump();
      return true;
    } catch (error) {
      tools.log.warn({ err: error, webhook_id: lane.webhook_id }, 'attempts not recorded yet');
      return false;
    }
  }

  function retire(lane: WebhookQueue) {
    if (lane.inFlight > 0 || lane.recording || lane.filling || lane.outcomes.length > 0) return;
    if (lane.tryingAgain && !stopping) return;
    lanes.delete(lane.webhook_id);
    if (lanes.size === 0) onIdle?.();
  }

  /** Takes no more deliveries in hand. */
  function takeNoMore() {
    stopping = true;
  }

  /** The same; resolves when those in hand are attempted and recorded. */
  async function stop() {
    takeNoMore();
    for (const lane of [...lanes.values()]) retire(lane);
    if (lanes.size > 0) await new Promise<void>((idle) => (onIdle = idle));
  }

  return { wake, sweep, takeNoMore, stop };
}
