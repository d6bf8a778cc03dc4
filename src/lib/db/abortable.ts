import { AsyncLocalStorage } from 'node:async_hooks';
import { type Db, one, type Sql } from './db.ts';
import { asCostly } from './fair-pool.ts';
import { inReadTransaction } from './transaction.ts';

/**
 * Runs a statement that only reads and may take long in a transaction of its own, and ends it when the
 * signal says so: then the connection is free for others, and the signal's reason is thrown. The connection
 * goes back only when the cancellation is done, so that it cannot end the statement of another caller
 * instead. The cancellation needs another connection, but no other slot: `createPoolSlots` leaves one. A reserved connection
 * would not do: the driver puts it back into the pool even when it was lost.
 *
 *     const rows = await runAbortable(db, AbortSignal.timeout(10_000), (sql) => sql`select ...`);
 */
export async function runAbortable<T>(
  db: Db,
  signal: AbortSignal,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  return await asCostly(signal, () =>
    inReadTransaction(db, async (tx) => {
      const { pid } = one(await tx<{ pid: number }[]>`select pg_backend_pid() as pid`);
      signal.throwIfAborted();
      let ending: Promise<unknown> | undefined;
      // As part of the transaction, whatever the signal comes from.
      const end = AsyncLocalStorage.bind(() => {
        ending = (async () => await db`select pg_cancel_backend(${pid})`.catch(() => {}))();
      });
      signal.addEventListener('abort', end, { once: true });
      try {
        return await work(tx);
      } catch (error) {
        throw ending ? signal.reason : error;
      } finally {
        signal.removeEventListener('abort', end);
        await ending;
      }
    }),
  );
}
