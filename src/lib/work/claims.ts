import { createSemaphore } from '../async/semaphore.ts';
import type { Part, Sql } from '../db/db.ts';
import { createOutage, type Fields, type Log } from '../log/log.ts';

// Background work that waits in a table and is claimed by lease: deliveries to webhooks, analyses of comments.

/** Returned by `run` for an item that stays in the table, for the next claim. */
export const left = Symbol('left in the table');

export type Claim = {
  /** The lease that claims. */
  by: string;
  atMost: number;
  /** Ids that run here. Another claim of this lease is free: the answer to its statement was lost. */
  running: readonly string[];
};

export type ClaimsOptions<Group, Item> = {
  log: Log;
  /** Logged once when the table cannot be read or written, and once when it can again. */
  outage: { begins: string; over: string };
  /** The name in which this process claims. When it dies, what it claimed is free again. */
  lease: () => string;
  /** Items of one group that run at once. A group that hangs holds no more than these. */
  maxRunning: number;
  keyOf: (group: Group) => string;
  /** What the log says of a group. */
  fieldsOf: (group: Group) => Fields;
  /** Groups of one tenant are swept one after the other, those of several tenants side by side. */
  tenantOf: (group: Group) => string;
  /** Groups that have items which are due and left by the others. */
  listDue: (by: string) => Promise<Group[]>;
  /** Claims items that are due, the most urgent first. */
  claim: (group: Group, claim: Claim) => Promise<{ items: Item[]; hasMore: boolean }>;
  /** Gives items back that were claimed and not run. */
  release: (group: Group, ids: string[]) => Promise<unknown>;
  /** Runs an item and records its outcome. After a rejection the group is claimed from after a pause. */
  run: (item: Item) => Promise<unknown>;
};

type Queue<Group> = {
  group: Group;
  /** Ids of the items that run or are not recorded yet. */
  running: Set<string>;
  /** The table may have items that are due and do not run here. */
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
export function createClaims<Group, Item extends { id: string }>(
  options: ClaimsOptions<Group, Item>,
) {
  const { maxRunning, keyOf, lease, log } = options;
  const queues = new Map<string, Queue<Group>>();
  const outage = createOutage(log, options.outage);
  const sweeps = createSemaphore({ slots: maxTenantsSwept, maxPerGroup: 1 });
  let sweeping: Promise<void> | undefined;
  let stopping = false;
  let onIdle = () => {};

  /** Claims what is due of a group; resolves once the items have started for which there is room. */
  async function wake(group: Group) {
    const queue = queueOf(group);
    queue.hasMore = true;
    await queue.claiming?.catch(() => {}); // it may have looked before
    if (queue.hasMore) await claim(queue);
    advance(queue);
  }

  /** Wakes the groups with something due, such as what a dead process had claimed. */
  function sweep(): Promise<void> {
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

  function queueOf(group: Group): Queue<Group> {
    const key = keyOf(group);
    const queue = queues.get(key) ?? {
      group,
      running: new Set(),
      hasMore: false,
      claiming: undefined,
      pause: undefined,
    };
    queues.set(key, queue);
    return queue;
  }

  function advance(queue: Queue<Group>) {
    if (queue.hasMore && !queue.pause) void claim(queue).catch(() => {});
    if (queue.running.size > 0 || queue.claiming || (queue.hasMore && !stopping)) return;
    clearTimeout(queue.pause);
    queues.delete(keyOf(queue.group));
    if (queues.size === 0) onIdle();
  }

  /** One claim at a time, so that each knows of those before. */
  async function claim(queue: Queue<Group>) {
    const atMost = maxRunning - queue.running.size;
    if (queue.claiming || atMost === 0 || stopping) return;
    clearTimeout(queue.pause);
    queue.pause = undefined;
    queue.claiming = claimAndRun(queue, atMost);
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

  async function claimAndRun(queue: Queue<Group>, atMost: number) {
    queue.hasMore = false;
    const claim = { by: lease(), atMost, running: [...queue.running] };
    const { items, hasMore } = await options.claim(queue.group, claim);
    queue.hasMore ||= hasMore;
    if (!stopping) for (const item of items) void run(queue, item);
    else if (items.length > 0) await release(queue, items);
  }

  async function run(queue: Queue<Group>, item: Item) {
    queue.running.add(item.id);
    try {
      if ((await options.run(item)) === left) {
        if (stopping) await release(queue, [item]);
        else queue.hasMore = true;
      }
    } catch (error) {
      tryLater(queue, error);
    }
    queue.running.delete(item.id);
    advance(queue);
  }

  /** If it fails, the end of the lease sets the items free. */
  const release = ({ group }: Queue<Group>, items: readonly Item[]) =>
    options
      .release(
        group,
        items.map(({ id }) => id),
      )
      .catch(() => {});

  /** What failed may have been done all the same: no other process would take what this one has claimed. */
  function tryLater(queue: Queue<Group>, err: unknown) {
    outage.failed(queue, { err, ...options.fieldsOf(queue.group) });
    queue.hasMore = true;
    queue.pause ??= setTimeout(() => {
      queue.pause = undefined;
      advance(queue);
    }, pauseMs).unref(); // a process that ends gives up its claims
  }

  /** Claims and starts nothing more. */
  function takeNoMore() {
    stopping = true;
  }

  /** The same; resolves when all that runs is recorded. */
  async function stop() {
    takeNoMore();
    const idle = new Promise<void>((resolve) => {
      onIdle = resolve;
    });
    for (const queue of [...queues.values()]) advance(queue);
    if (queues.size > 0) await idle;
  }

  return { wake, sweep, takeNoMore, stop };
}

/** No living process has claimed the row. */
const isFree = (sql: Sql): Part => sql`
  (claimed_by is null or not exists (select from worker_pools where pool_id = claimed_by))`;

/** A process of this lease may claim the row, unless it runs there. */
export const isClaimable = (sql: Sql, by: string): Part => sql`
  (claimed_by = ${by} or ${isFree(sql)})`;

/** The row is left to a process of this lease: it is free, or the answer to its own claim was lost a while ago. */
export const isLeft = (sql: Sql, by: string, since: Part): Part => sql`
  (${isFree(sql)} or claimed_by = ${by} and ${since} < now() - interval '2 seconds')`;
