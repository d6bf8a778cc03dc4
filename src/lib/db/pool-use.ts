import type postgres from 'postgres';
import type { Db } from './db.ts';
import { onEnd } from './query-end.ts';
import { composing, driverOf } from './statement.ts';

export type PoolUse = { limit: number; busy: number; waiting: number };

/** A query as the driver makes it: `handler` takes it when it is awaited, `state` is its connection then. */
type Query = Promise<unknown> & { handler: (query: Query) => unknown; state: object | null };

/**
 * The same pool, and a way to see how much of it is in use; the driver does not say. It has no queue of
 * its own to look at either: once all connections are taken, queries travel behind one another on them.
 */
export function watchPool(pool: Db): { db: Db; use: () => PoolUse } {
  const driver = driverOf(pool);
  const queries = new Set<Query>();
  const transactions = new Set<{ begun: boolean }>();

  function watched(first: unknown, ...rest: unknown[]) {
    const made = (driver as unknown as (...all: unknown[]) => unknown)(first, ...rest);
    if ((first as { raw?: unknown } | undefined)?.raw) watch(made as Query);
    return made;
  }

  function watch(query: Query) {
    const { handler } = query;
    query.handler = (taken) => {
      queries.add(query);
      onEnd(query, () => queries.delete(query));
      return handler(taken);
    };
  }

  async function begin(...given: unknown[]) {
    const work = given.pop() as (tx: postgres.TransactionSql) => unknown;
    const transaction = { begun: false };
    transactions.add(transaction);
    const beginAll = driver.begin as unknown as (...all: unknown[]) => Promise<unknown>;
    try {
      return await beginAll(...given, (tx: postgres.TransactionSql) => {
        transaction.begun = true;
        return work(tx);
      });
    } finally {
      transactions.delete(transaction);
    }
  }

  const use = () => {
    const taken = new Set([...queries].map(({ state }) => state));
    taken.delete(null);
    const begun = [...transactions].filter((each) => each.begun).length;
    const busy = taken.size + begun;
    return { limit: pool.options.max, busy, waiting: queries.size + transactions.size - busy };
  };
  return { db: composing(Object.assign(watched, driver, { begin }) as unknown as Db), use };
}
