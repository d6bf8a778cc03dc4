// Concurrency: fair slots and turns, deadlines, batches, signals, caches.

import {
  createGroups,
  type FirstGroup,
  type SlotGroup,
  type SlotLine,
  type SlotPlace,
  type SlotUser,
  takeFirst,
} from './slot-groups.ts';

export type FairSlotOptions = {
  total: number;
  /** This many slots are kept free of groups that already hold more than what is left. */
  reserve: number;
  /** No group holds more than this, whatever is free; a function is asked whenever a group with slots may get another. */
  mostPerGroup?: number | ((name: string) => number);
  /** How many of one group may wait; the next is refused with `TooManyWaiting`. */
  waitingPerGroup?: number;
  /** Groups that are served before all others, within limits; of several, the first that waits. */
  first?: readonly FirstGroup[];
};

export type FairSlotCounts = { total: number; held: number; waiting: number; groups: number };

export type FairSlots = ReturnType<typeof createFairSlots>;

export class TooManyWaiting extends Error {}

/**
 * Slots that are shared by groups, such as organizations. A group without a slot gets one as long as
 * any is free; a group with slots gets more while more than the reserve are free, and out of the reserve
 * while it holds fewer than are free. Idle capacity is used, and a newcomer does not wait for a neighbour
 * whose work hangs. Groups that wait are served in turn, those without a slot first; inside a group its lines in
 * turn, and in a line the order of arrival counts. Before all others come the groups of `first`, each while it holds
 * fewer than its `most` slots; with more it waits as any group does, so that the others keep the rest.
 *
 *     const slots = createFairSlots({ total: 20, reserve: 4 });
 *     await slots.run(tenant, () => callTheSharedThing(), AbortSignal.timeout(5_000));
 */
export function createFairSlots(options: FairSlotOptions) {
  const { total, reserve, mostPerGroup, waitingPerGroup = Infinity, first = [] } = options;
  const groups = createGroups({ first, mostPerGroup });
  let [limit, held, waiting] = [total, 0, 0];

  function serve() {
    for (;;) {
      const group = groups.next(limit - held, reserve);
      if (!group) return;
      const user = takeFirst(group);
      group.held += 1;
      waiting -= 1;
      held += 1;
      groups.moveToEnd(group);
      user.start();
    }
  }

  function giveBack(group: SlotGroup) {
    group.held -= 1;
    held -= 1;
    groups.update(group);
    serve();
  }

  /** Starts its user at once or when the turn comes. */
  function take(name: string, user: SlotUser, line: SlotLine = 'usual'): SlotPlace {
    const group = groups.get(name);
    if (group.waiting >= waitingPerGroup) throw new TooManyWaiting(`too many of ${name} wait`);
    const place = { user, group, line, isLeft: false };
    const queue = group.lines.get(line) ?? new Set();
    group.lines.set(line, queue.add(place));
    group.waiting += 1;
    waiting += 1;
    groups.update(group);
    serve();
    return place;
  }

  /** Gives the slot back or stops waiting. */
  function leave(place: SlotPlace) {
    if (place.isLeft) return;
    place.isLeft = true;
    const { group, line } = place;
    const queue = group.lines.get(line);
    if (!queue?.delete(place)) return giveBack(group);
    if (queue.size === 0) group.lines.delete(line);
    group.waiting -= 1;
    waiting -= 1;
    groups.update(group);
  }

  /** Starts at once or when the turn comes; the function it returns gives the slot back or stops waiting. */
  function enter(name: string, start: () => void, line?: SlotLine): () => void {
    const place = take(name, { start }, line);
    return () => leave(place);
  }

  /** Changes the number of slots. What is held stays held; fewer slots take effect as they come back. */
  function resize(slots: number) {
    limit = slots;
    serve();
  }

  return {
    enter,
    /** The same without functions of their own for each user. */
    take,
    leave,
    acquire: (name: string, signal?: AbortSignal, line?: SlotLine) =>
      acquire((group, start) => enter(group, start, line), name, signal),
    run: <T>(name: string, work: () => Promise<T>, signal?: AbortSignal) =>
      run(enter, { name, signal }, work),
    resize,
    counts: (): FairSlotCounts => ({ total: limit, held, waiting, groups: groups.size() }),
  };
}

type Enter = (name: string, start: () => void) => () => void;

/** Waits for a slot and returns how to give it back. Rejects with the signal's reason. */
async function acquire(enter: Enter, name: string, signal?: AbortSignal): Promise<() => void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = enter(name, resolve);
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

type Turn = { name: string; signal: AbortSignal | undefined };

async function run<T>(enter: Enter, { name, signal }: Turn, work: () => Promise<T>): Promise<T> {
  const leave = await acquire(enter, name, signal);
  try {
    return await work();
  } finally {
    leave();
  }
}

/** Fair slots for each key, such as a host. A key that nothing uses costs nothing. */
export function createFairSlotsByKey(options: FairSlotOptions) {
  const byKey = new Map<string, FairSlots>();
  return {
    enter(key: string, group: string, start: () => void): () => void {
      const slots = byKey.get(key) ?? createFairSlots(options);
      byKey.set(key, slots);
      const leave = slots.enter(group, start);
      return () => {
        leave();
        if (slots.counts().groups === 0 && byKey.get(key) === slots) byKey.delete(key);
      };
    },
    keys: () => byKey.size,
  };
}
