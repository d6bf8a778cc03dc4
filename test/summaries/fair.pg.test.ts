import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createAnalystQueue } from '../../src/summaries/comment-reader.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const jobOf = (org_id: string) => ({
  task: 'summaries.month' as const,
  payload: { org_id, tries: 0 },
  traceparent: null,
});

test('stopping requeues waiting jobs and finishes running ones', async () => {
  const queue = createAnalystQueue({ db, limits: { slots: 1, reserve: 0 } });
  const org = randomUUID();
  const running = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  let finished = false;
  const first = queue.runJob(org, jobOf(org), async () => {
    began.resolve();
    await running.promise;
    finished = true;
  });
  await began.promise;
  const waiting = jobOf(org);
  const second = queue.runJob(org, waiting, async () => assert.fail('it must not begin'));

  queue.stop();
  await second;
  running.resolve();
  await first;
  assert.ok(finished);
  const jobs = await db`select payload from test.jobs where payload ->> 'org_id' = ${org}`;
  assert.deepEqual(
    jobs.map(({ payload }) => payload),
    [waiting.payload],
  );
  const failing = createAnalystQueue({ db });
  await assert.rejects(
    failing.runJob(org, jobOf(org), async () => {
      throw new Error('a fault');
    }),
    /a fault/,
  );
});
