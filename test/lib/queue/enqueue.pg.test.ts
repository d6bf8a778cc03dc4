import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { enqueue } from '../../../src/jobs.ts';
import { prepareQueue } from '../../../src/lib/queue/enqueue.ts';
import { task } from '../../../src/lib/queue/task.ts';
import { emptyDatabase, testDatabase } from '../../support/probe/database.ts';
import { enqueueDelivery, recordingTask, workOn } from '../../support/probe/jobs.ts';
import { until } from '../../support/probe/until.ts';

const { db, url } = await testDatabase();

/** Too long for a poll to happen within a test. */
const pollMs = 600_000;
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test('a job of a rolled-back transaction does not exist', async () => {
  const undone = db.begin(async (tx) => {
    await enqueue(tx, [{ task: 'sends.mail', payload: { org_id: '', mail_ids: [] } }]);
    throw new Error('changed our mind');
  });
  await assert.rejects(undone, /changed our mind/);
  assert.deepEqual([...(await db`select from test.jobs`)], []);
});

test('jobs keep their order, time and number of attempts', async (t) => {
  t.after(() => db`delete from test.jobs`);
  const runAt = new Date('2030-01-01T10:00:00.123Z');
  const payload = { org_id: 'org', webhook_id: 'webhook' };
  await enqueue(db, [
    { task: 'webhooks.deliver', payload, runAt },
    { task: 'keys.clean_up', payload: {} },
  ]);
  const jobs = await db`
    select task_identifier as task, run_at, max_attempts from graphile_worker.jobs order by id`;
  assert.deepEqual([jobs[0]!['task'], jobs[1]!['task']], ['webhooks.deliver', 'keys.clean_up']);
  assert.deepEqual([jobs[0]!['run_at'], jobs[0]!['max_attempts']], [runAt, 10]);
  assert.ok(jobs[1]!['run_at'] <= new Date());
});

test('a job starts at once, with its payload and the trace of its cause', async (t) => {
  const runs = recordingTask();
  await workOn(t, { url, tasks: { 'webhooks.deliver': runs.task }, timing: { pollMs } });
  const began = Date.now();

  const id = await enqueueDelivery(db, { traceparent });

  const { payload, job } = await runs.start(id);
  assert.equal(payload['webhook_id'], id);
  assert.equal(job.traceparent, traceparent);
  assert.ok(job.causedAt.getTime() >= began && job.causedAt.getTime() <= Date.now());
});

test('a job with an invalid payload fails without reaching the task', async (t) => {
  const reached: unknown[] = [];
  const strict = task(v.object({ webhook_id: v.literal('never') }), async (payload) => {
    reached.push(payload);
  });
  await workOn(t, { url, tasks: { 'webhooks.deliver': strict } });

  await enqueueDelivery(db);

  await until('the job has failed', async () => {
    const [job] = await db`select last_error, attempts from graphile_worker.jobs`;
    return job?.['attempts'] === 1 && /webhook_id|never/.test(job['last_error'] ?? '');
  });
  assert.deepEqual(reached, []);
});

test('processes that start at once prepare the queue once', async () => {
  const empty = await emptyDatabase();
  await Promise.all([1, 2, 3].map(() => prepareQueue(empty.db, empty)));
  await enqueue(empty.db, [{ task: 'keys.clean_up', payload: {} }]);
  assert.equal((await empty.db`select from graphile_worker.jobs`).length, 1);
});
