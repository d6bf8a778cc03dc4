import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '../../support/probe/database.ts';
import { workOn } from '../../support/probe/jobs.ts';
import { untilLockWaits } from '../../support/probe/locks.ts';
import { keptLog } from '../../support/probe/log.ts';
import { until } from '../../support/probe/until.ts';

const { db, url } = await testDatabase();
const size = { concurrency: 1, localQueue: 1 };
const groups = Object.fromEntries(
  ['sends.mail', 'webhooks.deliver', 'summaries.month'].map((name) => [
    name,
    { takes: (task: string) => task === name, ...size },
  ]),
);
const tasks = Object.fromEntries(Object.keys(groups).map((name) => [name, async () => {}]));

const connections = async (name: string) => {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name = ${name}`;
  return row!.count;
};

test('in a new database one runner makes the schema of the queue, and the others wait for it', async (t) => {
  await db`drop schema graphile_worker cascade`;
  const { lines, log } = keptLog();
  const held = Promise.withResolvers<void>();
  const holding = Promise.withResolvers<void>();
  const holder = db.begin(async (tx) => {
    await tx`create schema graphile_worker`;
    holding.resolve();
    await held.promise;
    await tx`drop schema graphile_worker`;
  });
  await holding.promise;
  const started = workOn(t, { db, url, log, tasks, groups, program: 'fresh' });
  await until('all have a session', async () => (await connections('fresh jobs session')) === 3);
  await untilLockWaits(db);
  assert.equal(await connections('fresh jobs'), 1);
  held.resolve();
  await holder;
  const jobs = await started;
  const running = { state: 'running', restarts: 0 };
  const each = Object.keys(groups).map((name) => [name, running]);
  assert.deepEqual([jobs.state(), lines], [Object.fromEntries(each), []]);
});

test('the row of a worker pool is written while its lock is held', async (t) => {
  await db`create table locks_of_pools (is_held boolean)`;
  await db`
    create function note_lock() returns trigger language plpgsql as $$
    begin
      insert into locks_of_pools
      select exists (
        select from pg_locks
        where locktype = 'advisory' and pid = pg_backend_pid() and granted
          and (classid::bigint << 32 | objid::bigint) = new.lock_key
      );
      return new;
    end $$`;
  await db`
    create trigger note_lock before insert on worker_pools for each row execute function note_lock()`;
  await workOn(t, { db, url, tasks, groups });
  const rows = await db`select is_held from locks_of_pools`;
  assert.deepEqual(
    rows.map((row) => row['is_held']),
    [true, true, true],
  );
});
