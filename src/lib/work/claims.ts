import { createSemaphore } from '../async/semaphore.ts';
import type { Part, Sql } from '../db/db.ts';
import { createOutage, type Fields, type Log } from '../log/log.ts';

// Background work that waits in a table and is claimed by lease: deliveries to webhooks, analyses of comments.

export const requeue = Symbol('requeue');

export type Claim = {
  by: string;
  atMost: number;
  /** Ids that this process has claimed already. A claim of its lease that is not among them is free: its answer was lost. */
  known: readonly string[];
};

type ClaimLimits = {
  /** Items of one group that run at once. A group that hangs holds no more than these. */
  running: number;
  claim: number;
  /** Items of one group that wait in memory; all others wait in the table. */
  ready: number;
  /** The same with those that run or are not recorded yet. */
  known: number;
};

type ClaimsOptions<Group, Item, Outcome> = {
  log: Log;
  /** Logged once when the table cannot be read or written, and once when it can again. */
  outage: { begins: string; over: string };
  /** The name in which this process claims. When it dies, what it claimed is free again. */
  lease: () => string;
  limits: ClaimLimits;
  keyOf: (group: Group) => string;
  fieldsOf: (group: Group) => Fields;
  /** Groups of one tenant are swept one after the other, those of several tenants side by side. */
  tenantOf: (group: Group) => string;
  /** Groups that have items which are due and left by the others. */
  listDue: (by: string) => Promise<Group[]>;
  /** Claims items that are due, the most urgent first. */
  claim: (group: Group, claim: Claim) => Promise<{ items: Item[]; hasMore: boolean }>;
  release: (group: Group, ids: string[]) => Promise<unknown>;
  /** An item that is `requeue` waits in the table for the next claim; after a rejection, that one comes after a pause. */
  run: (item: Item) => Promise<Outcome | typeof requeue>;
  /** Writes the outcome, where `run` does not. Meanwhile another item of the group runs. */
  record?: (outcome: Outcome) => Promise<unknown>;
};

type Queue<Group, Item> = {
  group: Group;
  ready: Item[];
  running: number;
  /** Ready, running or not recorded yet. */
  known: Set<string>;
  /** The table may have items that are due and not known here. */
  hasMore: boolean;
  claiming: Promise<void> | undefined;
  /** Set after a failure: until then nothing is claimed, unless somebody wakes the group. */
  pause: NodeJS.Timeout | undefined;
};

const pauseMs = 500;
const maxTenantsSwept = 8;

/**
 * Claims items group by group, such as the deliveries of one webhook, and runs a few of each group at once. Groups
 * share nothing here, so a slow one, or one with a long backlog, delays no other; what all of them need, such as
 * connections, `run` takes in fair turns. Nothing is lost: an item stays in the table until its outcome is
 * recorded, and when its process dies its lease ends, so that the sweep of another process claims it.
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

  /** Runs an item that this process has just committed as claimed by its lease, without reading it again. */
  function offer(group: Group, item: Item) {
    const queue = queueOf(group);
    const { ready, known } = queue;
    // Room for one claim is kept: what others left must not wait behind what this process commits.
    const hasRoom = ready.length < limits.ready - limits.claim && known.size < limits.known;
    if (!hasRoom || stopping) queue.hasMore = true;
    else ready.push(...remember(queue, [item]));
    advance(queue);
  }

  /** Claims what is due of a group; resolves once the items have started for which there is room. */
  async function wake(group: Group) {
    const queue = queueOf(group);
    queue.hasMore = true;
    await queue.claiming?.catch(() => {}); // it may have looked before
    if (queue.hasMore) await claim(queue);
    advance(queue);
  }

  /** Wakes the groups with something due, such as what a dead process had claimed. */
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

  /** Starts what there is room for, and claims more when few are left to start. */
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

  /** One claim at a time, so that each knows of those before. */
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
      tryLater(queue, error);
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
    if (stopping) await letGo(queue);
  }

  /** A claim may return what was offered since it began, and the other way round. */
  function remember({ known }: Queue<Group, Item>, items: readonly Item[]) {
    const unknown = items.filter(({ id }) => !known.has(id));
    for (const { id } of unknown) known.add(id);
    return unknown;
  }

  async function run(queue: Queue<Group, Item>, item: Item) {
    try {
      const outcome = await runWithSlot(queue, item);
      if (outcome !== requeue) await options.record?.(outcome);
      else if (stopping) await options.release(queue.group, [item.id]);
      else queue.hasMore = true;
    } catch (error) {
      tryLater(queue, error);
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

  /** A failed claim may have succeeded all the same, and no other process would take what this one has claimed. */
  function tryLater(queue: Queue<Group, Item>, err: unknown) {
    outage.failed(queue, { err, ...options.fieldsOf(queue.group) });
    queue.hasMore = true;
    queue.pause ??= setTimeout(() => {
      queue.pause = undefined;
      advance(queue);
    }, pauseMs).unref(); // a process that ends gives up its claims
  }

  /** Claims and starts nothing more. */
  function stopClaiming() {
    stopping = true;
  }

  /** The same; resolves when all that runs is recorded and the rest is given back. */
  async function stop() {
    stopClaiming();
    const idle = new Promise<void>((resolve) => {
      onIdle = resolve;
    });
    await Promise.all([...queues.values()].map(letGo));
    for (const queue of [...queues.values()]) advance(queue);
    if (queues.size > 0) await idle;
  }

  /** If it fails, the end of the lease sets the items free. */
  async function letGo(queue: Queue<Group, Item>) {
    const ids = queue.ready.splice(0).map(({ id }) => id);
    for (const id of ids) queue.known.delete(id);
    if (ids.length > 0) await options.release(queue.group, ids).catch(() => {});
  }

  return { offer, wake, sweep, stopClaiming, stop };
}

/** No living process has claimed the row. */
const isFree = (sql: Sql): Part => sql`
  (claimed_by is null or not exists (select from worker_pools where pool_id = claimed_by))`;

/** A process of this lease may claim the row, unless it knows of it. */
export const isClaimable = (sql: Sql, by: string): Part => sql`
  (claimed_by = ${by} or ${isFree(sql)})`;

/** The row is left to a process of this lease: it is free, or the answer to its own claim was lost a while ago. */
export const isAbandoned = (sql: Sql, by: string, since: Part): Part => sql`
  (${isFree(sql)} or claimed_by = ${by} and ${since} < now() - interval '2 seconds')`;
