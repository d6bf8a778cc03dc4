import { setTimeout as sleep } from 'node:timers/promises';
import { one, type Sql } from '../../src/lib/db/db.ts';

/** Counters of Postgres, of which two readings are subtracted. */
export type Writes = {
  walBytes: number;
  commits: number;
  rows: number;
  updates: number;
  hotUpdates: number;
};

/** Sessions report what they did with a delay of up to a second. */
const statisticsDelayMs = 1200;

export async function readWrites(sql: Sql): Promise<Writes> {
  await sleep(statisticsDelayMs);
  return one(
    await sql<Writes[]>`
      select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as "walBytes",
             d.xact_commit::float8 as commits,
             (d.tup_inserted + d.tup_updated + d.tup_deleted)::float8 as rows,
             t.updates, t."hotUpdates"
      from pg_stat_database d,
           (select coalesce(sum(n_tup_upd), 0)::float8 as updates,
                   coalesce(sum(n_tup_hot_upd), 0)::float8 as "hotUpdates"
            from pg_stat_all_tables) t
      where d.datname = current_database()`,
  );
}

export function writesBetween(before: Writes, after: Writes, units: number) {
  const per = (name: keyof Writes) => (after[name] - before[name]) / units;
  const updates = per('updates');
  return {
    walBytes: per('walBytes'),
    commits: per('commits'),
    rows: per('rows'),
    hotShare: updates === 0 ? null : per('hotUpdates') / updates,
  };
}
