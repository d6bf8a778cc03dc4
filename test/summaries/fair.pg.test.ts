import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { commandActor } from '../../src/audit/acts.ts';
import { createAnalystQueue } from '../../src/summaries/comment-reader.ts';
import { summaryJob } from '../../src/summaries/summarize.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const period = { start: new Date('2026-05-01'), end: new Date('2026-06-01') };
const jobOf = (org: string) => summaryJob(org, period, { actor: commandActor() });

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
