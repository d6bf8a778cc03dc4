import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { connect, type Db } from '../../../src/lib/db/db.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { enqueueDelivery, recordingTask, workOn } from '../../support/probe/jobs.ts';
import { keptLog } from '../../support/probe/log.ts';
import { until } from '../../support/probe/until.ts';

const { db, url } = await testDatabase();

/** Makes recording the next outcomes fail, which ends the queue's runner without an error. */
async function hiccup({ times }: { times: number }) {
  await db`create sequence hiccups`;
  await db`select setval('hiccups', ${100 - times})`;
  await db`
    create function hiccup() returns trigger language plpgsql as $$
    begin
      if nextval('hiccups') <= 100 then raise exception 'hiccup'; end if;
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

const hiccups = async () => {
  const [row] = await db<{ tried: number }[]>`select (last_value - 97)::int as tried from hiccups`;
  return row!.tried;
};

const terminate = (sql: Db, name: string) => sql`
  select pg_terminate_backend(pid)
  from pg_stat_activity
  where datname = current_database() and application_name like ${name} and pid <> pg_backend_pid()`;

const unfinished = async () => (await db`select id from graphile_worker.jobs`).length;
const pools = async () =>
  (await db`select pool_id from worker_pools where pool_id not like 'lease-%'`).map(
    (row) => row['pool_id'],
  );

test('the runner restarts and repeats a job after a failed record', async (t) => {
  t.after(await hiccup({ times: 1 }));
  const runs = recordingTask();
  const { lines, log } = keptLog();
  const jobs = await workOn(t, { url, log, tasks: { 'webhooks.deliver': runs.task } });

  const struck = await enqueueDelivery(db);
  await runs.start(struck, 2);
  const next = await enqueueDelivery(db);
  await runs.start(next);

  await until('both jobs are recorded as done', async () => (await unfinished()) === 0);
  assert.deepEqual(jobs.state(), { state: 'running', restarts: 1 });
  await jobs.stop();
  const ended = lines.filter(([, , { from }]) => from !== 'graphile');
  const fields = { restarts: 1 };
  const words = 'a job runner ended unexpectedly, starting it again';
  assert.deepEqual(ended, [['warn', words, fields]]);
});

test('the next runner works while the last one waits for a slow job', async (t) => {
  t.after(await hiccup({ times: 1 }));
  const release = Promise.withResolvers<void>();
  const slow = randomUUID();
  const runs = recordingTask(({ payload }) =>
    payload['webhook_id'] === slow ? release.promise : undefined,
  );
  const jobs = await workOn(t, { url, tasks: { 'webhooks.deliver': runs.task } });
  await enqueueDelivery(db, {}, slow);
  await runs.start(slow);

  const struck = await enqueueDelivery(db);
  await runs.start(struck);
  await until('the runner has ended', () => jobs.state().restarts === 1);
  const next = await enqueueDelivery(db);
  await runs.start(next);
  release.resolve();

  await until('all jobs are recorded as done', async () => (await unfinished()) === 0);
  assert.equal(runs.of(slow).length, 1);
});

test('an ended runner returns every job whose outcome was lost', async (t) => {
  t.after(await hiccup({ times: 3 }));
  const releases = new Map<string, PromiseWithResolvers<void>>();
  const runs = recordingTask(({ payload, job }) =>
    job.attempt === 1 ? releases.get(String(payload['webhook_id']))?.promise : undefined,
  );
  await workOn(t, { url, tasks: { 'webhooks.deliver': runs.task } });
  const ids = [];
  for (let count = 1; count <= 4; count++) {
    const id = randomUUID();
    releases.set(id, Promise.withResolvers());
    await enqueueDelivery(db, {}, id);
    ids.push(id);
  }
  await Promise.all(ids.map((id) => runs.start(id)));

  for (const [index, id] of ids.entries()) {
    releases.get(id)!.resolve();
    await until('its outcome was tried', async () => (await hiccups()) >= index + 1);
  }

  await Promise.all(ids.slice(0, 3).map((id) => runs.start(id, 2)));
  await until('all jobs are recorded as done', async () => (await unfinished()) === 0);
});

test('a runner that loses its session registers again and keeps its job', async (t) => {
  const release = Promise.withResolvers<void>();
  const slow = randomUUID();
  const runs = recordingTask(({ payload }) =>
    payload['webhook_id'] === slow ? release.promise : undefined,
  );
  const jobs = await workOn(t, { url, tasks: { 'webhooks.deliver': runs.task } });
  const [before] = await pools();
  await enqueueDelivery(db, {}, slow);
  await runs.start(slow);

  await terminate(db, 'askback jobs session%');
  await until('there is a new pool', async () => (await pools()).some((pool) => pool !== before));
  for (let round = 1; round <= 2; round++) {
    const next = await enqueueDelivery(db);
    await runs.start(next);
  }
  assert.equal(runs.of(slow).length, 1, 'no second run at the same time as the first');
  release.resolve();

  await until('the old pool is gone', async () => !(await pools()).includes(before));
  await until('all jobs are recorded as done', async () => (await unfinished()) === 0);
  assert.equal(runs.of(slow).length, 1);
  assert.deepEqual(jobs.state(), { state: 'running', restarts: 1 });
});

test('jobs run within 5 s after all connections were cut', async (t) => {
  const runs = recordingTask();
  const jobs = await workOn(t, { url, tasks: { 'webhooks.deliver': runs.task } });
  const admin = connect(url, { connections: 1 });
  t.after(() => admin.end());

  const waited: number[] = [];
  for (let round = 1; round <= 3; round++) {
    await terminate(admin, 'askback%');
    const cut = Date.now();
    const id = await enqueueDelivery(admin);
    waited.push((await runs.start(id)).at - cut);
  }
  // Takes the best of three runs, because other work may slow the machine down.
  assert.ok(Math.min(...waited) < 5000, waited.join());
  await until('the jobs are recorded as done', async () => {
    return (await admin`select id from graphile_worker.jobs`).length === 0;
  });
  assert.equal(jobs.state().state, 'running');
});
