import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { connect } from '../../../src/lib/db/db.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { enqueueDelivery, recordingTask, workerProcess, workOn } from '../../support/probe/jobs.ts';
import { until } from '../../support/probe/until.ts';

const { db, url } = await testDatabase();

/** Takes about a second, or longer on a busy machine. The queue itself would wait four hours. */
const noticedWithinMs = 30_000;

test('another process resumes jobs within a second after kill -9', async (t) => {
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
    return (await db`select from worker_pools`).length === 4;
  });

  assert.deepEqual(runs.of(kept), []);
  await other.kill();
  await runs.start(kept);
});

test('a job that kills its process three times runs a fourth time', async (t) => {
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

test('jobs of a killed process resume despite a session with its name', async (t) => {
  const killed = await workerProcess(t, url);
  const id = await enqueueDelivery(db);
  await killed.started(id);
  const role = `pretender_${randomUUID().replaceAll('-', '')}`;
  await db`create role ${db(role)} login`;
  const as = new URL(url);
  as.username = role;
  const pretender = connect(as.href, { connections: 1 });
  t.after(async () => {
    await pretender.end({ timeout: 1 });
    await db`drop role ${db(role)}`;
  });
  const [pool] = await db<
    { session: string }[]
  >`select session from worker_pools where pool_id like 'lease-%'`;
  await pretender`select set_config('application_name', ${pool!.session}, false)`;
  const runs = recordingTask();
  await workOn(t, { url, tasks: { 'webhooks.deliver': runs.task } });

  await killed.kill();

  await runs.start(id);
});
