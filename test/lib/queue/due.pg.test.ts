import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { aheadMs, dueSoon } from '../../../src/lib/queue/due-times.ts';
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

const soon = [
  { fact: 'due now', runAt: '0', inMs: [] },
  { fact: 'due before', runAt: '-1 ms', inMs: [] },
  { fact: 'due a little later', runAt: '1 microsecond', inMs: [1] },
  { fact: 'due in a second and a half', runAt: '1500 ms', inMs: [1500] },
  { fact: 'due just within the time ahead', runAt: `${aheadMs - 1} ms`, inMs: [aheadMs - 1] },
  { fact: 'due when the time ahead ends', runAt: `${aheadMs} ms`, inMs: [] },
  { fact: 'that is locked', runAt: '1 s', change: 'locked_at = now()', inMs: [] },
  { fact: 'that is not scheduled', runAt: '1 s', change: 'priority = 5', inMs: [] },
];

for (const { fact, runAt, change, inMs: expected } of soon) {
  test(`of a job ${fact} the next due times are [${expected}] ms ahead`, async () => {
    const cancelled = new Error('nothing is kept');
    const looking = db.begin(async (tx) => {
      await tx`delete from graphile_worker._private_jobs`;
      await tx`select graphile_worker.add_job('none', run_at => now() + ${runAt}::interval)`;
      if (change) await tx.unsafe(`update graphile_worker._private_jobs set ${change}`);
      const found = await tx<{ in_ms: number }[]>`select in_ms from (${dueSoon(tx)}) due`;
      assert.deepEqual(
        found.map(({ in_ms }) => in_ms),
        expected,
      );
      throw cancelled;
    });
    await assert.rejects(looking, (error) => error === cancelled);
  });
}
