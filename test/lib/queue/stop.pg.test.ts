import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '../../support/probe/database.ts';
import { enqueueDelivery, recordingTask, workOn } from '../../support/probe/jobs.ts';
import { until } from '../../support/probe/until.ts';

const { db, url } = await testDatabase();

const locked = () => db`select id from graphile_worker.jobs where locked_at is not null`;
const pools = () => db`select pool_id from worker_pools`;

test('stopping waits for running jobs and records their outcomes', async (t) => {
  const release = Promise.withResolvers<void>();
  const runs = recordingTask(() => release.promise);
  const jobs = await workOn(t, { url, tasks: { 'webhooks.deliver': runs.task } });
  const id = await enqueueDelivery(db);
  await runs.start(id);

  const stopped = jobs.stop();
  assert.equal((await locked()).length, 1);
  release.resolve();
  await stopped;

  assert.deepEqual([...(await db`select id from graphile_worker.jobs`)], []);
  assert.deepEqual([...(await pools())], []);
});

test('stopping releases the jobs that do not end in time', async (t) => {
  const runs = recordingTask(() => new Promise(() => {}));
  const timing = { stopWithinMs: 200 };
  const jobs = await workOn(t, { url, tasks: { 'webhooks.deliver': runs.task }, timing });
  const ids = await Promise.all(Array.from({ length: 150 }, () => enqueueDelivery(db)));
  await Promise.race(ids.map((id) => runs.start(id)));
  // More jobs than can run at once: some run, and others wait in the process.
  await until('more than 100 are locked', async () => (await locked()).length > 100);

  await jobs.stop();

  assert.deepEqual([...(await locked())], []);
  assert.deepEqual([...(await pools())], []);
  assert.equal((await db`select id from graphile_worker.jobs`).length, 150);
});
