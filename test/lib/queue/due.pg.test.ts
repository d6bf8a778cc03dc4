import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { testDatabase } from '../../support/probe/database.ts';
import { enqueueDelivery, recordingTask, workOn } from '../../support/probe/jobs.ts';

const { db, url } = await testDatabase();

/** So long that no poll comes to help within a test. */
const pollMs = 600_000;
/** A machine that runs all tests at once is late by itself; without its timer a job would wait for the poll. */
const latestMs = 10_000;

const inMs = (ms: number) => new Date(Date.now() + ms);

async function work(t: TestContext) {
  const runs = recordingTask();
  const tasks = { 'webhooks.deliver': runs.task };
  const jobs = await workOn(t, { db, url, tasks, timing: { pollMs } });
  return { runs, jobs };
}

test('a job starts when it falls due, not at the next poll', async (t) => {
  const { runs, jobs } = await work(t);

  const runAt = inMs(700);
  const id = await enqueueDelivery(db, { runAt });
  jobs.pump();

  const late = (await runs.start(id)).at - runAt.getTime();
  assert.ok(late >= 0 && late < latestMs, `${late} ms late`);
});

test('a job that falls due later than the next look starts on time', async (t) => {
  const { runs, jobs } = await work(t);

  const runAt = inMs(3200);
  const id = await enqueueDelivery(db, { runAt });
  jobs.pump();

  const late = (await runs.start(id)).at - runAt.getTime();
  assert.ok(late >= 0 && late < latestMs, `${late} ms late`);
});

test('a job scheduled by a process that has gone starts on time', async (t) => {
  const { runs } = await work(t);
  const id = randomUUID();
  const runAt = inMs(1500);

  await db`
    select graphile_worker.add_job(
      'webhooks.deliver',
      ${db.json({ webhook_id: id })}::json,
      run_at => ${runAt})`;

  const late = (await runs.start(id)).at - runAt.getTime();
  assert.ok(late >= 0 && late < latestMs, `${late} ms late`);
});

test('jobs fall due in their order, whatever the order they were enqueued in', async (t) => {
  const { runs, jobs } = await work(t);
  const times = [4500, 1500, 3000].map(inMs);

  const ids = [];
  for (const runAt of times) ids.push(await enqueueDelivery(db, { runAt }));
  jobs.pump();
  const [last, first, second] = await Promise.all(ids.map((id) => runs.start(id)));

  assert.ok(first!.at < second!.at && second!.at < last!.at);
});

test('a nudge after the stop does no harm', async (t) => {
  const { jobs } = await work(t);
  await enqueueDelivery(db, { runAt: inMs(200) });
  jobs.pump();

  await jobs.stop();
  jobs.pump();

  assert.equal(jobs.state()['all']?.state, 'stopped');
});
