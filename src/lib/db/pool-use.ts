import type postgres from 'postgres';
import type { Db } from './db.ts';
import { type EndingQuery, onEnd } from './query-end.ts';
import { type DriverQuery, withStep } from './query-step.ts';
import { composing, driverOf } from './statement.ts';

export type PoolUse = { limit: number; busy: number; waiting: number };

/**
 * The same pool, and a way to see how much of it is in use; the driver does not say. It has no queue of
 * its own to look at either: once all connections are taken, queries travel behind one another on them.
 */
export function watchPool(pool: Db): { db: Db; use: () => PoolUse } {
  const driver = driverOf(pool);
  const queries = new Set<DriverQuery>();
  const transactions = new Set<{ begun: boolean }>();

  const follower = { ended: (query: EndingQuery) => queries.delete(query as DriverQuery) };

  const watched = withStep(driver, (query, send) => {
    queries.add(query);
    onEnd(query, follower);
    return send(query);
  });

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
