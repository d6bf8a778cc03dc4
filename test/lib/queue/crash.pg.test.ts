import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDatabase } from '../../support/probe/database.ts';
import { enqueueDelivery, recordingTask, workerProcess, workOn } from '../../support/probe/jobs.ts';
import { until } from '../../support/probe/until.ts';

const { db, url } = await testDatabase();

/** It is noticed in about a second, later on a machine that runs all tests at once; the queue itself waits for four hours. */
const noticedWithinMs = 30_000;

test('jobs of a process killed with -9 go on in another within about a second', async (t) => {
  const other = await workerProcess(t, url);
  const id = await enqueueDelivery(db);
  await other.started(id);
  const runs = recordingTask();
  const timing = { pollMs: 600_000 };
  await workOn(t, { url, tasks: { 'webhooks.deliver': runs.task }, timing });

  await other.kill();
  const killed = Date.now();

  assert.ok((await runs.start(id)).at - killed < noticedWithinMs);
  assert.equal(runs.of(id).length, 1);
});

test('a live process keeps its jobs', async (t) => {
  const other = await workerProcess(t, url);
  const kept = await enqueueDelivery(db);
  await other.started(kept);
  const runs = recordingTask();
  const killed = await workerProcess(t, url);
  await workOn(t, { url, tasks: { 'webhooks.deliver': runs.task } });

  await killed.kill();
  await until('the dead pool was swept, the live ones tried', async () => {
    return (await db`select from worker_pools`).length === 2;
  });

  assert.deepEqual(runs.of(kept), []);
  await other.kill();
  await runs.start(kept);
});

test('a job that takes its process down three times runs a fourth time', async (t) => {
  const id = await enqueueDelivery(db);
  for (let crash = 1; crash <= 3; crash++) {
    const victim = await workerProcess(t, url);
    await victim.started(id);
    await victim.kill();
  }
  const runs = recordingTask();
  await workOn(t, { url, tasks: { 'webhooks.deliver': runs.task } });

  assert.equal((await runs.start(id)).job.attempt, 4);
});

test('a crontab and a tasks folder in the working directory are not read', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'askback-'));
  t.after(() => rm(folder, { recursive: true }));
  const evidence = join(folder, 'evidence');
  await writeFile(join(folder, 'crontab'), '* * * * * evil\n');
  await mkdir(join(folder, 'tasks'));
  const evil = `require('node:fs').writeFileSync(${JSON.stringify(evidence)}, '')`;
  for (const name of ['evil', 'webhooks.deliver']) {
    await writeFile(join(folder, 'tasks', `${name}.cjs`), `${evil}; module.exports = () => {}`);
  }

  const worker = await workerProcess(t, url, folder);
  const id = await enqueueDelivery(db);
  await worker.started(id);

  assert.equal(existsSync(evidence), false);
  assert.deepEqual(
    [...(await db`select identifier from graphile_worker._private_known_crontabs`)],
    [],
  );
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
  await workOn(t, { url, tasks: { 'webhooks.deliver': async () => {} } });
  const rows = await db`select is_held from locks_of_pools`;
  assert.deepEqual(
    rows.map((row) => row['is_held']),
    [true],
  );
});
