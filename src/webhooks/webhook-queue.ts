import type { Db } from '../lib/db/db.ts';
import { ofGroup } from '../lib/db/fair-pool.ts';
import type { Log } from '../lib/log/log.ts';
import type { Outage } from '../lib/log/outage.ts';
import type { AttemptOutcome, DeliverTools } from './deliver.ts';
import type { ClaimedDelivery, WebhookRef } from './delivery.queries.ts';
import type { WebhookTarget } from './queries.ts';

/** Attempts of one webhook in flight at once: a subscriber that hangs holds no more than these. */
export const inFlightPerWebhook = 16;
/** Own deliveries of one webhook that wait in memory; the others wait in the table. */
export const readyAtMost = 256;

export type QueueTools = DeliverTools & {
  db: Db;
  log: Log;
  /** The lease in whose name deliveries are claimed: when it ends, they are free again. */
  claimer: () => string;
  isStopping: () => boolean;
  /** Resolves when the outcome is recorded, however long Postgres is away. */
  record: (outcome: AttemptOutcome) => Promise<void>;
  /** What fails to be claimed, and what is claimed again. */
  claims: Outage;
  /** Claims what is due of the queue's webhook; a failure is logged and tried again. */
  wakeQuietly: (queue: WebhookQueue) => Promise<void>;
  /** Called when nothing of the webhook is left to do here. */
  onIdle: (webhook: WebhookRef) => void;
};

/** The database as far as the organization of the webhook may use it. */
export const dbOf = ({ db }: Pick<QueueTools, 'db'>, { org_id }: Pick<WebhookRef, 'org_id'>) =>
  ofGroup(db, org_id);

/**
 * The queue of one webhook in this process. Its state says what the table holds that is due and not known
 * here:
 *
 *   state    | meaning                                        | leaves it
 *   ---------|------------------------------------------------|------------------------------------------
 *   empty    | nothing: the last claim found all there was    | wake -> claiming; no room in memory -> full
 *   claiming | a claim is under way                           | it ends -> empty, full, claiming or broken
 *            |                                                | wake -> woken
 *   woken    | a claim is under way, another one must follow  | it ends -> claiming, full or broken
 *   full     | there may be more                              | wake, or few are ready -> claiming
 *   broken   | a claim failed, and may have been made         | wake or timer -> claiming
 */
export type WebhookQueue = {
  webhook: WebhookRef;
  state: 'empty' | 'claiming' | 'woken' | 'full' | 'broken';
  /** Known and not attempted yet, retries first. */
  ready: ReadyDelivery[];
  inFlight: number;
  /** Ready, in flight or not recorded yet. */
  known: Set<string>;
  /** Outcomes that are not recorded yet. */
  unrecorded: number;
  target: (WebhookTarget & { readAt: number }) | undefined;
  starting: boolean;
};

export type ReadyDelivery = Omit<ClaimedDelivery, keyof WebhookTarget>;

export const newQueue = ({ org_id, webhook_id }: WebhookRef): WebhookQueue => ({
  webhook: { org_id, webhook_id },
  state: 'empty',
  ready: [],
  inFlight: 0,
  known: new Set(),
  unrecorded: 0,
  target: undefined,
  starting: false,
});

export const isClaiming = ({ state }: WebhookQueue) => state === 'claiming' || state === 'woken';

export function addReady(queue: WebhookQueue, found: readonly ClaimedDelivery[]) {
  // A claim may return what this process has committed and handed over since the claim began.
  const deliveries = found.filter(({ id }) => !queue.known.has(id));
  for (const { id, url, secret, previous_secret, retries } of deliveries) {
    queue.target = { url, secret, previous_secret, retries, readAt: performance.now() };
    queue.known.add(id);
  }
  queue.ready.push(...deliveries);
}

/** Takes what is ready out of memory: the table still has it, for another claim. */
export function dropReady(queue: WebhookQueue): string[] {
  const ids = queue.ready.splice(0).map(({ id }) => id);
  for (const id of ids) queue.known.delete(id);
  if (ids.length > 0) queue.state = isClaiming(queue) ? 'woken' : 'full';
  return ids;
}

/** A stopping process leaves to others what the table holds. */
export function reportIdle(tools: QueueTools, queue: WebhookQueue) {
  if (isClaiming(queue) || queue.starting || queue.known.size > 0) return;
  if (queue.state === 'empty' || tools.isStopping()) tools.onIdle(queue.webhook);
}
