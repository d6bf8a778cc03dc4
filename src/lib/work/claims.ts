import { createSemaphore } from '../async/semaphore.ts';
import type { Part, Sql } from '../db/db.ts';
import { createOutage, type Fields, type Log } from '../log/log.ts';

// Background work that is claimed from a table by lease: webhook deliveries, comment analyses.

export const requeue = Symbol('requeue');

export type Claim = {
  by: string;
  atMost: number;
  /**
   * Ids that this process already has. It never got the reply that claimed the lease's other rows, so they are free.
   */
  known: readonly string[];
};

type ClaimLimits = {
  /** Items of one group that run at once. */
  running: number;
  claim: number;
  /** Items of one group that wait in memory. */
  ready: number;
  /** Items of one group that wait, run or are not recorded yet. */
  known: number;
};

type ClaimsOptions<Group, Item, Outcome> = {
  log: Log;
  /** Log messages for when the table becomes unavailable and available again. */
  outage: { begins: string; over: string };
  /** Claims are held by this lease and become free when its process dies. */
  lease: () => string;
  limits: ClaimLimits;
  keyOf: (group: Group) => string;
  fieldsOf: (group: Group) => Fields;
  /** Tenants are swept in parallel. The groups of one tenant are swept one after the other. */
  tenantOf: (group: Group) => string;
  /** Lists groups with due items that no live process has claimed. */
  listDue: (by: string) => Promise<Group[]>;
  /** Claims due items, the most urgent first. */
  claim: (group: Group, claim: Claim) => Promise<{ items: Item[]; hasMore: boolean }>;
  release: (group: Group, ids: string[]) => Promise<unknown>;
  /** A result of `requeue` leaves the item in the table for the next claim. A rejection also pauses the group. */
  run: (item: Item) => Promise<Outcome | typeof requeue>;
  /** Writes the outcome while the next item of the group already runs. */
  record?: (outcome: Outcome) => Promise<unknown>;
};

type Queue<Group, Item> = {
  group: Group;
  ready: Item[];
  running: number;
  /** Ready, running or not recorded yet. */
  known: Set<string>;
  /** The table may have more due items. */
  hasMore: boolean;
  claiming: Promise<void> | undefined;
  /** Set after a failure. Until the pause ends, only `wake` claims. */
  pause: NodeJS.Timeout | undefined;
};

const pauseMs = 500;
const maxTenantsSwept = 8;

/**
 * Claims items group by group, such as the deliveries of one webhook, and runs a few of each group at once. A slow group
 * or a long backlog delays no other group. An item stays in the table until its outcome is recorded. When a process
 * dies, its lease ends and the sweep of another process claims its items.
 */
export function createClaims<Group, Item extends { id: string }, Outcome>(
  options: ClaimsOptions<Group, Item, Outcome>,
) {
  const { limits, keyOf, lease, log } = options;
  const queues = new Map<string, Queue<Group, Item>>();
  const outage = createOutage(log, options.outage);
  const sweeps = createSemaphore({ slots: maxTenantsSwept, maxPerGroup: 1 });
  let sweeping: Promise<void> | undefined;
  let stopping = false;
  let onIdle = () => {};

  /** Runs an item that this process has just stored as claimed. Spares a read from the table. */
  function offer(group: Group, item: Item) {
    const queue = queueOf(group);
    const { ready, known } = queue;
    // Keeps room for one claim, so that older items in the table do not starve.
    const hasRoom = ready.length < limits.ready - limits.claim && known.size < limits.known;
    if (!hasRoom || stopping) queue.hasMore = true;
    else ready.push(...remember(queue, [item]));
    advance(queue);
  }

  /** Claims due items of a group. Resolves once as many as possible have started. */
  async function wake(group: Group) {
    const queue = queueOf(group);
    queue.hasMore = true;
    await queue.claiming?.catch(() => {}); // a running claim may have read the table too early
    if (queue.hasMore) await claim(queue);
    advance(queue);
  }

  /** Wakes all groups with due items, including the claims of dead processes. */
  function sweep() {
    if (stopping) return Promise.resolve();
    sweeping ??= wakeDue().finally(() => {
      sweeping = undefined;
    });
    return sweeping;
  }

  async function wakeDue() {
    const groups = await options.listDue(lease());
    const wakes = groups.map((group) =>
      sweeps.run(options.tenantOf(group), () => wake(group).catch(() => {})),
    );
    await Promise.all(wakes);
  }

  function queueOf(group: Group) {
    const key = keyOf(group);
    const queue: Queue<Group, Item> = queues.get(key) ?? {
      group,
      ready: [],
      running: 0,
      known: new Set(),
      hasMore: false,
      claiming: undefined,
      pause: undefined,
    };
    queues.set(key, queue);
    return queue;
  }

  /** Starts items while there is room, and claims more when few are ready. */
  function advance(queue: Queue<Group, Item>) {
    while (!stopping && queue.running < limits.running && queue.ready.length > 0) {
      void run(queue, queue.ready.shift()!);
    }
    const isLow = queue.hasMore && queue.ready.length < limits.running;
    if (isLow && !queue.pause) void claim(queue).catch(() => {});
    if (queue.known.size > 0 || queue.claiming || (queue.hasMore && !stopping)) return;
    clearTimeout(queue.pause);
    queues.delete(keyOf(queue.group));
    if (queues.size === 0) onIdle();
  }

  async function claim(queue: Queue<Group, Item>) {
    const isFull =
      queue.ready.length > limits.ready - limits.claim || queue.known.size >= limits.known;
    if (queue.claiming || isFull || stopping) return;
    clearTimeout(queue.pause);
    queue.pause = undefined;
    queue.claiming = claimDue(queue);
    try {
      await queue.claiming;
      outage.worked(queue);
    } catch (error) {
      pauseAfter(queue, error);
      throw error;
    } finally {
      queue.claiming = undefined;
      advance(queue);
    }
  }

  async function claimDue(queue: Queue<Group, Item>) {
    queue.hasMore = false;
    const claim = { by: lease(), atMost: limits.claim, known: [...queue.known] };
    const { items, hasMore } = await options.claim(queue.group, claim);
    queue.hasMore ||= hasMore;
    queue.ready.unshift(...remember(queue, items));
    if (stopping) await releaseReady(queue);
  }

  /** Returns the new items: an item can be offered and claimed at the same time. */
  function remember({ known }: Queue<Group, Item>, items: readonly Item[]) {
    const added = items.filter(({ id }) => !known.has(id));
    for (const { id } of added) known.add(id);
    return added;
  }

  async function run(queue: Queue<Group, Item>, item: Item) {
    try {
      const outcome = await runWithSlot(queue, item);
      if (outcome !== requeue) await options.record?.(outcome);
      else if (stopping) await options.release(queue.group, [item.id]);
      else queue.hasMore = true;
    } catch (error) {
      pauseAfter(queue, error);
    }
    queue.known.delete(item.id);
    advance(queue);
  }

  async function runWithSlot(queue: Queue<Group, Item>, item: Item) {
    queue.running += 1;
    try {
      return await options.run(item);
    } finally {
      queue.running -= 1;
      advance(queue);
    }
  }

  /** Claims again after a pause. A claim that failed here may have succeeded in Postgres. */
  function pauseAfter(queue: Queue<Group, Item>, err: unknown) {
    outage.failed(queue, { err, ...options.fieldsOf(queue.group) });
    queue.hasMore = true;
    queue.pause ??= setTimeout(() => {
      queue.pause = undefined;
      advance(queue);
    }, pauseMs).unref();
  }

  function stopClaiming() {
    stopping = true;
  }

  /** Resolves when running items are recorded and ready items are released. */
  async function stop() {
    stopClaiming();
    const idle = new Promise<void>((resolve) => {
      onIdle = resolve;
    });
    await Promise.all([...queues.values()].map(releaseReady));
    for (const queue of [...queues.values()]) advance(queue);
    if (queues.size > 0) await idle;
  }

  /** If this fails, the end of the lease releases the items. */
  async function releaseReady(queue: Queue<Group, Item>) {
    const ids = queue.ready.splice(0).map(({ id }) => id);
    for (const id of ids) queue.known.delete(id);
    if (ids.length > 0) await options.release(queue.group, ids).catch(() => {});
  }

  return { offer, wake, sweep, stopClaiming, stop };
}

const isFree = (sql: Sql): Part => sql`
  (claimed_by is null or not exists (select from worker_pools where pool_id = claimed_by))`;

/** This lease may claim the row, unless its process already has it. */
export const isClaimable = (sql: Sql, by: string): Part => sql`
  (claimed_by = ${by} or ${isFree(sql)})`;

/** The row is free, or this lease claimed it a while ago and never got the reply. */
export const isAbandoned = (sql: Sql, by: string, since: Part): Part => sql`
  (${isFree(sql)} or claimed_by = ${by} and ${since} < now() - interval '2 seconds')`;
