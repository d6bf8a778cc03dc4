import { createFairSlots, type FairSlots } from '../async/fair-slots.ts';

/** What requests do before they are known to belong to a group: look up a link, a session, a key. */
export const requestsOfNoGroup = 'requests of no group';
/** What the process does for all groups. */
export const serviceWork = 'work of the service';

/** The slots of a pool, one for each connection, and those of the processors behind it. */
export type PoolSlots = Pick<FairSlots, 'enter' | 'counts'> & {
  /** Without any, costly statements run as all others do. */
  processors?: Pick<FairSlots, 'enter' | 'counts'>;
};

export type PoolSize = {
  connections: number;
  /** How many processors of Postgres costly statements may keep busy. */
  processors: number;
};

/** From this size on the share of a group still leaves connections to others when some are kept. */
const largePool = 8;

/**
 * A group alone gets half of the connections, so that another finds a free one at any moment. What belongs to no
 * group is short, and the work of the service is everybody's: each goes first with up to a quarter of the connections,
 * and in a large pool has one that groups never take. All together leave one, by which a statement that holds another
 * is cancelled.
 * Postgres divides its processors between connections and knows no groups: a group with many costly statements would
 * get most of them. So a group runs those on half of the processors at most, also when others need none: what has begun
 * cannot be interrupted for a short one. All groups together run two for each processor.
 */
export function createPoolSlots({ connections, processors }: PoolSize): Required<PoolSlots> {
  const most = Math.floor(connections / 4);
  const kept = connections < largePool ? 0 : 1;
  const first = [requestsOfNoGroup, serviceWork].map((name) => ({ name, most, kept }));
  const total = Math.max(connections - 1, 1);
  const shared = total - first.length * kept;
  const reserve = shared - Math.floor(connections / 2);
  return {
    ...createFairSlots({ total, reserve, first }),
    processors: createFairSlots({
      total: 2 * processors,
      reserve: 0,
      mostPerGroup: Math.max(1, Math.floor(processors / 2)),
    }),
  };
}
