import { AsyncLocalStorage } from 'node:async_hooks';
import { createFairSlots, type FairSlots } from '../async/fair-slots.ts';
import type { Db } from './db.ts';
import { composing, driverOf } from './statement.ts';

/** Whose statements run, and whether they run inside a transaction that has a slot already. */
type Turn = { group: string; hasSlot: boolean };

const turns = new AsyncLocalStorage<Turn>();

/** Lets all statements of `work` count as those of a group, such as an organization. */
export const inGroup = <T>(group: string, work: () => Promise<T>): Promise<T> =>
  turns.run({ group, hasSlot: false }, work);

/** Lets statements of `work` go straight through, whatever called it. */
export const inNoGroup = <T>(work: () => Promise<T>): Promise<T> => turns.exit(work);

/**
 * The slots of a pool: a group alone gets half of the connections, so that another finds a free one at any
 * moment. All groups together leave one connection, by which a statement that holds another is cancelled.
 */
export const createPoolSlots = (connections: number) =>
  createFairSlots({ total: Math.max(connections - 1, 1), reserve: Math.ceil(connections / 2) });

/** A query as the driver makes it: `handler` takes it when it is awaited. */
type Query = Promise<unknown> & { handler: (query: Query) => unknown };

/**
 * The same pool, divided between groups: statements of a group that would have more than its share wait
 * here, and not on connections in front of those of others. What runs in no group goes straight through.
 * A transaction holds one slot until it ends, and what is done inside it needs no other.
 */
export function shareFairly(pool: Db, slots: FairSlots): Db {
  const driver = driverOf(pool);

  function shared(first: unknown, ...rest: unknown[]) {
    const made = (driver as unknown as (...all: unknown[]) => unknown)(first, ...rest);
    if ((first as { raw?: unknown } | undefined)?.raw) takeTurn(made as Query);
    return made;
  }

  function takeTurn(query: Query) {
    const { handler } = query;
    query.handler = (taken) => {
      const turn = turns.getStore();
      if (!turn || turn.hasSlot) return handler(taken);
      const leave = slots.enter(turn.group, () => handler(taken));
      query.then(leave, leave);
    };
  }

  async function begin(...given: unknown[]) {
    const beginAll = driver.begin as unknown as (...all: unknown[]) => Promise<unknown>;
    const turn = turns.getStore();
    if (!turn || turn.hasSlot) return await beginAll(...given);
    const inside = () => turns.run({ ...turn, hasSlot: true }, () => beginAll(...given));
    return await slots.run(turn.group, inside);
  }

  return composing(Object.assign(shared, driver, { begin }) as unknown as Db);
}
