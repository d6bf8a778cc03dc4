import { after } from 'node:test';
import { connect, type Db, one } from '../../../src/lib/db/db.ts';
import { migrate, readMigrations } from '../../../src/lib/db/migrate.ts';
import { type MigrationStep, parseStep } from '../../../src/lib/db/migrate-step-files.ts';
import { createLog } from '../../../src/lib/log/log.ts';
import { startStepWorker } from '../../../src/lib/steps/step-worker.ts';
import { emptyDatabase } from '../probe/database.ts';

/** Never held by anybody but a test. */
export const gate = 7_007;

/**
 * A filled table and a step that counts for each row how often it was worked on. It waits in the middle of the batch
 * that has `gate_at`, as long as a test holds the gate.
 */
export async function stepTable({ rows = 300 } = {}) {
  const { db, url } = await emptyDatabase();
  await migrate(db, readMigrations(), []);
  await db`create table things (id integer primary key, touched integer not null default 0, note text)`;
  await db`create table workers (pid integer primary key)`;
  await db`create table gates (gate_at integer)`;
  await db`insert into things select n from generate_series(1, ${rows}::int) n`;
  await db.unsafe(`
    create function touch_after(after jsonb, most integer, out last_key jsonb, out rows bigint)
    language plpgsql as $$
    declare
      ids constant integer[] := array(
        select id from things where id > coalesce(after::integer, 0) order by id limit least(most, 8)
      );
    begin
      insert into workers values (pg_backend_pid()) on conflict do nothing;
      update things set touched = touched + 1 where id = any (ids);
      if exists (select from gates where gate_at = any (ids)) then
        perform pg_advisory_xact_lock(${gate});
      end if;
      last_key := to_jsonb(ids[cardinality(ids)]);
      rows := cardinality(ids);
    end
    $$`);
  return { db, url, steps: [touching] };
}

export const touching = parseStep(
  '0070_touching',
  `-- batches of things
-- next batch
select last_key, rows from touch_after($1::text::jsonb, $2::integer);
-- estimate
select count(*) as rows from things;
`,
);

/** What a start of the service does with these steps. */
export const leave = (db: Db, steps: MigrationStep[]) => migrate(db, readMigrations(), steps);

export const work = (
  url: string,
  steps: MigrationStep[],
  worker = 'test',
  log = createLog({ level: 'silent' }),
) => startStepWorker({ address: { url }, log, steps, worker, program: 'test' });

/** Holds the gate by a connection of its own; returns what opens it. */
export async function closeGate(db: Db, url: string, at: number) {
  await db`insert into gates values (${at})`;
  const holder = connect(url, { connections: 1 });
  const open = () => holder.end();
  after(open);
  await holder`select pg_advisory_lock(${gate})`;
  return async () => {
    await db`delete from gates`;
    await open();
  };
}

/** The connections of this database that wait in the middle of a batch. */
export async function waitingAtGate(db: Db): Promise<number[]> {
  const waiting = await db<{ pid: number }[]>`
    select l.pid
    from pg_locks l
    join pg_database d on d.oid = l.database and d.datname = current_database()
    where l.locktype = 'advisory' and l.objid = ${gate} and not l.granted`;
  return waiting.map(({ pid }) => pid);
}

export const isWaitingAtGate = async (db: Db) => (await waitingAtGate(db)).length > 0;

export const countTouched = async (db: Db) =>
  one(
    await db<{ none: number; once: number; often: number }[]>`
      select (count(*) filter (where touched = 0))::int as none,
             (count(*) filter (where touched = 1))::int as once,
             (count(*) filter (where touched > 1))::int as often
      from things`,
  );
