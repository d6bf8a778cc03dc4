/** Where in its group something waits: each line of a group in turn, but the one `next` before all others. */
export type SlotLine = 'next' | 'usual' | (string & {});

/** What is called when its turn has come. */
export type SlotUser = { start: () => void };

/** A wait for a slot, and then the slot. */
export type SlotPlace = { user: SlotUser; group: SlotGroup; line: SlotLine; isLeft: boolean };

export type SlotGroup = {
  name: string;
  held: number;
  waiting: number;
  lines: Map<SlotLine, Set<SlotPlace>>;
};

/** A group that is served before all others while it holds fewer than `most`; `kept` slots wait for it alone. */
export type FirstGroup = { name: string; most: number; kept: number };

/** The groups that hold a slot or wait, and the order in which those that wait are served. */
type GroupLimits = {
  first: readonly FirstGroup[];
  mostPerGroup: number | ((name: string) => number) | undefined;
};

export function createGroups({ first, mostPerGroup = Infinity }: GroupLimits) {
  const byName = new Map<string, SlotGroup>();
  const waitingWithoutSlot = new Set<SlotGroup>();
  const waitingWithSlot = new Set<SlotGroup>();
  const mostOf = typeof mostPerGroup === 'number' ? () => mostPerGroup : mostPerGroup;

  function get(name: string): SlotGroup {
    const group = byName.get(name) ?? { name, held: 0, waiting: 0, lines: new Map() };
    byName.set(name, group);
    return group;
  }

  /** Puts the group into the queue where it now belongs. A group that is there already keeps its place. */
  function update(group: SlotGroup) {
    const queues = [waitingWithoutSlot, waitingWithSlot] as const;
    const [own, other] = group.held === 0 ? queues : ([queues[1], queues[0]] as const);
    other.delete(group);
    if (group.waiting > 0) own.add(group);
    else own.delete(group);
    if (group.waiting === 0 && group.held === 0) byName.delete(group.name);
  }

  function moveToEnd(group: SlotGroup) {
    waitingWithoutSlot.delete(group);
    waitingWithSlot.delete(group);
    update(group);
  }

  function next(free: number, reserve: number): SlotGroup | undefined {
    let shared = free;
    for (const { name, kept } of first) shared -= Math.max(kept - heldBy(name), 0);
    for (const { name, most, kept } of first) {
      const group = byName.get(name);
      if (!group || group.waiting === 0 || group.held >= most) continue;
      if (shared > 0 || (free > 0 && group.held < kept)) return group;
    }
    return nextInTurn(shared, reserve);
  }

  function nextInTurn(free: number, reserve: number): SlotGroup | undefined {
    if (free <= 0) return undefined;
    const without = firstOf(waitingWithoutSlot);
    if (without) return without;
    for (const group of waitingWithSlot) {
      if (group.held < mostOf(group.name) && (free > reserve || group.held < free)) return group;
    }
    return undefined;
  }

  const heldBy = (name: string) => byName.get(name)?.held ?? 0;

  return { get, update, moveToEnd, next, size: () => byName.size };
}

/** The line that was served goes behind the others of its group. */
export function takeFirst(group: SlotGroup): SlotUser {
  const { lines } = group;
  const line: SlotLine = lines.has('next') ? 'next' : lines.keys().next().value!;
  const queue = lines.get(line)!;
  const place = firstOf(queue)!;
  queue.delete(place);
  group.waiting -= 1;
  lines.delete(line);
  if (queue.size > 0) lines.set(line, queue);
  return place.user;
}

const firstOf = <T>(items: Set<T>): T | undefined => items.values().next().value;
