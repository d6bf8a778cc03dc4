export type SemaphoreOptions = {
  slots: number;
  /** Free slots that a group with slots must leave for newcomers. */
  reserve?: number;
  /** Part of the reserve that lines without a slot may use, such as another webhook of a busy group. */
  reserveForLines?: number;
  maxPerGroup?: number;
  /** Further waiters of the group are rejected with `TooManyWaiting`. */
  maxWaitingPerGroup?: number;
  first?: readonly FirstGroup[];
  startsPerSecond?: number | null;
};

/** Goes first while it holds fewer than `max` slots. `kept` slots are reserved for it. */
type FirstGroup = { name: string; max: number; kept: number };

type SemaphoreCounts = { total: number; held: number; waiting: number; groups: number };

export type Semaphore = ReturnType<typeof createSemaphore>;

export class TooManyWaiting extends Error {}

type Waiter = { start: () => void };
type Group = {
  name: string;
  held: number;
  lines: Map<string, Set<Waiter>>;
  heldBy: Map<string, number>;
};

export const nextLine = 'next';

/** Credit for late timers. Without it, a fast rate is never reached. */
const lateTimerMs = 20;

/**
 * A semaphore that groups, such as organizations, share fairly. Waiting groups take turns. A group without slots gets
 * any free slot. A group with slots gets another one while the free slots outnumber the reserve or the group's own
 * slots. So idle capacity is used, and a newcomer never waits for a neighbour that hangs.
 *
 *     const semaphore = createSemaphore({ slots: 20, reserve: 4 });
 *     await semaphore.run(orgId, () => callTheSharedThing(), AbortSignal.timeout(5_000));
 */
export function createSemaphore(options: SemaphoreOptions) {
  const { reserve = 0, maxPerGroup = Infinity, maxWaitingPerGroup = Infinity } = options;
  const { first = [], startsPerSecond = null, reserveForLines = 0 } = options;
  const groups = new Map<string, Group>();
  let [total, held, waiting, startsAt] = [options.slots, 0, 0, 0];
  let timer: NodeJS.Timeout | undefined;

  function enter(name: string, start: () => void, line = 'usual'): () => void {
    const group = groups.get(name) ?? { name, held: 0, lines: new Map(), heldBy: new Map() };
    if (countWaiting(group) >= maxWaitingPerGroup) throw new TooManyWaiting(`too many of ${name}`);
    groups.set(name, group);
    const waiter = { start };
    const waiters = group.lines.get(line) ?? new Set();
    group.lines.set(line, waiters.add(waiter));
    waiting += 1;
    serve();
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      if (remove(group, line, waiter)) waiting -= 1;
      else {
        group.held -= 1;
        hold(group, line, -1);
        held -= 1;
        // Goes behind the groups that have waited without a slot.
        if (group.held === 0) moveToEnd(group);
      }
      if (group.held === 0 && group.lines.size === 0) groups.delete(name);
      serve();
    };
  }

  function serve() {
    clearTimeout(timer);
    while (waiting > 0) {
      const waitMs = startsAt === 0 ? 0 : startsAt - performance.now();
      if (waitMs > 0) {
        timer = setTimeout(serve, Math.ceil(waitMs));
        return;
      }
      const group = nextGroup();
      if (!group) return;
      const line = lineOf(group);
      const waiter = takeWaiter(group, line);
      group.held += 1;
      hold(group, line, 1);
      held += 1;
      waiting -= 1;
      moveToEnd(group);
      if (startsPerSecond !== null) {
        startsAt = Math.max(startsAt, performance.now() - lateTimerMs) + 1000 / startsPerSecond;
      }
      waiter.start();
    }
  }

  function nextGroup(): Group | undefined {
    const free = total - held;
    let shared = free;
    for (const { name, kept } of first) shared -= Math.max(kept - heldBy(name), 0);
    for (const { name, max, kept } of first) {
      const group = groups.get(name);
      if (!group || group.lines.size === 0 || group.held >= max) continue;
      if (shared > 0 || (free > 0 && group.held < kept)) return group;
    }
    if (shared <= 0) return undefined;
    let withSlots: Group | undefined;
    for (const group of groups.values()) {
      if (group.lines.size === 0) continue;
      if (group.held === 0) return group;
      if (withSlots || group.held >= maxPerGroup) continue;
      if (shared > reserve || group.held < shared) withSlots = group;
      else if (shared > reserve - reserveForLines && !group.heldBy.has(lineOf(group))) {
        withSlots = group;
      }
    }
    return withSlots;
  }

  function moveToEnd(group: Group) {
    groups.delete(group.name);
    groups.set(group.name, group);
  }

  const heldBy = (name: string) => groups.get(name)?.held ?? 0;

  /** Waits for a slot and returns its release function. Rejects with the signal's reason. */
  async function acquire(name: string, signal?: AbortSignal, line?: string): Promise<() => void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = enter(name, resolve, line);
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await promise;
      return leave;
    } catch (error) {
      leave();
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  async function run<T>(name: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const leave = await acquire(name, signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  function resize(slots: number) {
    total = slots;
    serve();
  }

  function pause(ms: number) {
    startsAt = Math.max(startsAt, performance.now() + ms);
    serve();
  }

  return {
    enter,
    acquire,
    run,
    resize,
    pause,
    counts: (): SemaphoreCounts => ({ total, held, waiting, groups: groups.size }),
  };
}

function countWaiting({ lines }: Group) {
  let count = 0;
  for (const waiters of lines.values()) count += waiters.size;
  return count;
}

function remove({ lines }: Group, line: string, waiter: Waiter): boolean {
  const waiters = lines.get(line);
  if (!waiters?.delete(waiter)) return false;
  if (waiters.size === 0) lines.delete(line);
  return true;
}

/** Lines without a slot go first, and the others take turns. */
function lineOf({ lines, heldBy }: Group): string {
  if (lines.has(nextLine)) return nextLine;
  for (const line of lines.keys()) if (!heldBy.has(line)) return line;
  return lines.keys().next().value!;
}

function hold({ heldBy }: Group, line: string, slots: 1 | -1) {
  const count = (heldBy.get(line) ?? 0) + slots;
  if (count > 0) heldBy.set(line, count);
  else heldBy.delete(line);
}

function takeWaiter({ lines }: Group, line: string): Waiter {
  const waiters = lines.get(line)!;
  const waiter: Waiter = waiters.values().next().value!;
  waiters.delete(waiter);
  lines.delete(line);
  if (waiters.size > 0) lines.set(line, waiters);
  return waiter;
}

/** One semaphore per key, such as a host, dropped when unused. */
export function createSemaphores(options: SemaphoreOptions) {
  const byKey = new Map<string, Semaphore>();
  return {
    enter(key: string, group: string, start: () => void, line?: string): () => void {
      const semaphore = byKey.get(key) ?? createSemaphore(options);
      byKey.set(key, semaphore);
      const leave = semaphore.enter(group, start, line);
      return () => {
        leave();
        if (semaphore.counts().groups === 0 && byKey.get(key) === semaphore) byKey.delete(key);
      };
    },
    keys: () => byKey.size,
  };
}
