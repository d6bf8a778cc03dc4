import { type Db, one, type Sql } from './db.ts';
import { inNoGroup } from './fair-pool.ts';

/**
 * Runs a statement that may take long on a connection of its own, and ends it when the signal says so:
 * then the connection is free for others, and the signal's reason is thrown. The connection goes back only
 * when the cancellation is done, so that it cannot end the statement of another caller instead.
 *
 *     const rows = await runAbortable(db, AbortSignal.timeout(10_000), (sql) => sql`select ...`);
 */
export async function runAbortable<T>(
  db: Db,
  signal: AbortSignal,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const session = await db.reserve();
  let ending: Promise<unknown> | undefined;
  try {
    const { pid } = one(await session<{ pid: number }[]>`select pg_backend_pid() as pid`);
    signal.throwIfAborted();
    const end = () => {
      ending = inNoGroup(async () => await db`select pg_cancel_backend(${pid})`.catch(() => {}));
    };
    signal.addEventListener('abort', end, { once: true });
    try {
      return await work(session);
    } catch (error) {
      throw ending ? signal.reason : error;
    } finally {
      signal.removeEventListener('abort', end);
    }
  } finally {
    await ending;
    session.release();
  }
}
