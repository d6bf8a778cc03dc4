import type postgres from 'postgres';
import type { Db, Sql } from './db.ts';

/**
 * The one place where transactions begin. They are `read committed`, whatever the database's default:
 * the statements lock the rows that they decide on, and constraints decide races, so that a stricter level
 * would only add failures to repeat. How long a statement may take and a transaction may stay idle is set
 * for the whole connection, by `connect`, which costs no round trip.
 *
 *     const id = await inTransaction(db, async (tx) => { ... });
 */
export async function inTransaction<T>(db: Db, work: (tx: Sql) => Promise<T>): Promise<T> {
  return await begin(db, 'isolation level read committed', work);
}

/** The same for a transaction that only reads: Postgres refuses a statement that writes. */
export async function inReadTransaction<T>(db: Db, work: (tx: Sql) => Promise<T>): Promise<T> {
  return await begin(db, 'isolation level read committed read only', work);
}

/** The driver's type unwraps arrays of promises, which no transaction of ours returns. */
const begin = <T>(db: Db, mode: string, work: (tx: postgres.TransactionSql) => Promise<T>) =>
  db.begin(mode, work) as Promise<T>;
