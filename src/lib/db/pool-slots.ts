import { createFairSlots, type FairSlots } from '../async/fair-slots.ts';

/** What requests do before they are known to belong to a group: look up a link, a session, a key. */
export const requestsOfNoGroup = 'requests of no group';
/** What the process does for all groups. */
export const serviceWork = 'work of the service';

type Slots = Pick<FairSlots, 'take' | 'leave' | 'counts'>;

/** The slots of a pool, one for each connection, and those of the processors behind it. */
export type PoolSlots = Slots & {
  /** Without any, costly statements run as all others do. */
  processors?: Slots;
};

export type PoolSize = {
  connections: number;
  /** How many processors of Postgres costly statements may keep busy. */
  processors: number;
  now?: () => number;
};

/** From this size on the share of a group still leaves connections to others when some are kept. */
const largePool = 8;

/**
 * A group alone gets half of the connections, so that another finds a free one at any moment. What belongs to no
 * group is short, and the work of the service is everybody's: each goes first with up to a quarter of the connections,
 * and in a large pool has one that groups never take. All together leave one, by which a statement that holds another
 * is cancelled.
 * Postgres divides its processors between connections and knows no groups: a group with many costly statements would
 * get most of them. So while others work, a group runs those on half of the processors at most: what has begun cannot
 * be interrupted for a short one. A group that has been alone for a second has all of them, until another comes. All
 * groups together run two for each processor.
 */
export function createPoolSlots({
  connections,
  processors,
  now = () => performance.now(),
}: PoolSize): Required<PoolSlots> {
  const most = Math.floor(connections / 4);
  const kept = connections < largePool ? 0 : 1;
  const first = [requestsOfNoGroup, serviceWork].map((name) => ({ name, most, kept }));
  const total = Math.max(connections - 1, 1);
  const shared = total - first.length * kept;
  const reserve = shared - Math.floor(connections / 2);
  const watch = watchGroups(now);
  const half = Math.max(1, Math.floor(processors / 2));
  return {
    ...watched(watch, createFairSlots({ total, reserve, first })),
    processors: watched(
      watch,
      createFairSlots({
        total: 2 * processors,
        reserve: 0,
        mostPerGroup: (group) => (watch.isAlone(group) ? processors : half),
      }),
    ),
  };
}

/** A group counts as one that works for so long after its last statement: most come one after the other. */
const quietMs = 1000;

/** Which groups use a pool, and used it last. */
function watchGroups(now: () => number) {
  const inUse = new Map<string, number>();
  // The group that used it last, and the last use by another.
  let [last, lastAt, otherAt] = ['', -Infinity, -Infinity];

  function note(group: string) {
    if (group !== last) otherAt = lastAt;
    [last, lastAt] = [group, now()];
  }

  return {
    enter(group: string) {
      note(group);
      inUse.set(group, (inUse.get(group) ?? 0) + 1);
    },
    leave(group: string) {
      note(group);
      const left = inUse.get(group)! - 1;
      if (left > 0) inUse.set(group, left);
      else inUse.delete(group);
    },
    isAlone(group: string): boolean {
      if (inUse.size > (inUse.has(group) ? 1 : 0)) return false;
      return now() - (group === last ? otherAt : lastAt) >= quietMs;
    },
  };
}

const watched = (watch: ReturnType<typeof watchGroups>, { take, leave, counts }: Slots): Slots => ({
  counts,
  take(group, user, line) {
    // That is always there, and answers of visitors, which are part of it, begin as requests of no group.
    if (group !== serviceWork) watch.enter(group);
    return take(group, user, line);
  },
  leave(place) {
    const { name } = place.group;
    if (!place.isLeft && name !== serviceWork) watch.leave(name);
    leave(place);
  },
});
