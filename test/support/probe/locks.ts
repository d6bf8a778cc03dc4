import { one, type Sql } from '../../../src/lib/db/db.ts';
import { until } from './until.ts';

/** Resolves once this many connections to the database wait for a lock, to force an interleaving. */
export async function untilLockWaits(sql: Sql, many = 1) {
  await until('statements wait for a lock', async () => {
    const { waiting } = one(
      await sql<{ waiting: number }[]>`
        select count(*)::int as waiting
        from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return waiting >= many;
  });
}
