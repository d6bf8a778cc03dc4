import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, type Db } from '../../src/platform/db.ts';
import { testDatabase } from '../support/database.ts';
import { enqueueDelivery, recordingTask, workOn } from '../support/jobs.ts';
import { until } from '../support/until.ts';

const { db, url } = await testDatabase();

/** The next job that is done cannot be recorded: the queue's own way of ending in silence. */
async function hiccupOnce() {
  await db`create sequence hiccups`;
  await db`
    create function hiccup() returns trigger language plpgsql as $$
    begin
      if nextval('hiccups') = 1 then raise exception 'hiccup'; end if;
      return old;
    end $$`;
  await db`
    create trigger hiccup before delete on graphile_worker._private_jobs
    for each row execute function hiccup()`;
  return async () => {
    await db`drop function hiccup cascade`;
    await db`drop sequence hiccups`;
  };
}

const terminate = (sql: Db, name: string) => sql`
  select pg_terminate_backend(pid)
  from pg_stat_activity
  where datname = current_database() and application_name like ${name} and pid <> pg_backend_pid()`;

const unfinished = async () => (await db`select id from graphile_worker.jobs`).length;
const pools = async () => (await db`select pool_id from worker_pools`).map((row) => row['pool_id']);

test('a hiccup while an outcome is recorded: the runner starts again and the job runs again', async (t) => {
  t.after(await hiccupOnce());
  const runs = recordingTask();
  const jobs = await workOn(t, { db, url, tasks: { 'webhooks.deliver': runs.task } });

  const struck = await enqueueDelivery(db);
  jobs.pump();
  await runs.start(struck, 2);
  const next = await enqueueDelivery(db);
  jobs.pump();
  await runs.start(next);

  await until('both jobs are recorded as done', async () => (await unfinished()) === 0);
  assert.deepEqual(jobs.state().rest, { state: 'running', restarts: 1 });
});

test('while an ended runner waits for a slow job, the next one works, and the slow one runs once', async (t) => {
  t.after(await hiccupOnce());
  const release = Promise.withResolvers<void>();
  let slow = '';
  const runs = recordingTask(({ payload }) =>
    payload['delivery_id'] === slow ? release.promise : undefined,
  );
  const jobs = await workOn(t, { db, url, tasks: { 'webhooks.deliver': runs.task } });
  slow = await enqueueDelivery(db);
  jobs.pump();
  await runs.start(slow);

  const struck = await enqueueDelivery(db);
  jobs.pump();
  await runs.start(struck);
  await until('the runner has ended', () => jobs.state().rest?.restarts === 1);
  const next = await enqueueDelivery(db);
  jobs.pump();
  await runs.start(next);
  release.resolve();

  await until('all jobs are recorded as done', async () => (await unfinished()) === 0);
  assert.equal(runs.of(slow).length, 1);
});

test('a runner whose session is lost registers anew and keeps the job that it has in hand', async (t) => {
  const release = Promise.withResolvers<void>();
  let slow = '';
  const runs = recordingTask(({ payload }) =>
    payload['delivery_id'] === slow ? release.promise : undefined,
  );
  const jobs = await workOn(t, { db, url, tasks: { 'webhooks.deliver': runs.task } });
  const [before] = await pools();
  slow = await enqueueDelivery(db);
  jobs.pump();
  await runs.start(slow);

  await terminate(db, 'askback jobs session');
  await until('there is a new pool', async () => (await pools()).some((pool) => pool !== before));
  for (let round = 1; round <= 2; round++) {
    const next = await enqueueDelivery(db);
    jobs.pump();
    await runs.start(next);
  }
  assert.equal(runs.of(slow).length, 1, 'no second run beside the first');
  release.resolve();

  await until('the old pool is gone', async () => !(await pools()).includes(before));
  await until('all jobs are recorded as done', async () => (await unfinished()) === 0);
  assert.equal(runs.of(slow).length, 1);
  assert.deepEqual(jobs.state().rest, { state: 'running', restarts: 1 });
});

test('every connection cut: work goes on by itself within 5 s', async (t) => {
  const own = connect(url, { connections: 3 });
  const runs = recordingTask();
  const jobs = await workOn(t, { db: own, url, tasks: { 'webhooks.deliver': runs.task } });
  const admin = connect(url, { connections: 1 });
  t.after(() => Promise.all([own.end({ timeout: 1 }), admin.end()]));

  for (let round = 1; round <= 3; round++) {
    await terminate(admin, 'askback%');
    const cut = Date.now();
    const id = await enqueueDelivery(admin);
    assert.ok((await runs.start(id)).at - cut < 5000);
  }
  await until('the jobs are recorded as done', async () => {
    return (await admin`select id from graphile_worker.jobs`).length === 0;
  });
  assert.equal(jobs.state().rest?.state, 'running');
});

test('a runner that cannot start says so and goes on trying', async (t) => {
  const runs = recordingTask();
  await db`alter table worker_pools rename to worker_pools_away`;
  const jobs = await workOn(t, { db, url, tasks: { 'webhooks.deliver': runs.task } });
  assert.equal(jobs.state().rest?.state, 'restarting');

  await db`alter table worker_pools_away rename to worker_pools`;

  await runs.start(await enqueueDelivery(db));
  assert.equal(jobs.state().rest?.state, 'running');
});
