import { setTimeout as sleep } from 'node:timers/promises';
import { one, type Sql } from '../../../src/lib/db/db.ts';

/** Resolves once this many connections to the database wait for a lock, to force an interleaving. */
export async function untilLockWaits(sql: Sql, many = 1) {
  for (let tries = 0; tries < 1000; tries++) {
    const { waiting } = one(
      await sql<{ waiting: number }[]>`
        select count(*)::int as waiting
        from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (waiting >= many) return;
    await sleep(10);
  }
  throw new Error('no statement came to wait for a lock');
}
