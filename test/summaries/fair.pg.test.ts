import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { handOver } from '../../src/lib/queue/pump.ts';
import { createAnalystQueue } from '../../src/summaries/analyst-queue.ts';
import { enqueueAnalyses } from '../../src/summaries/queries.ts';
import { makeFeedback } from '../support/make/feedback.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const start = new Date('2026-05-01T00:00:00Z');
const jobOf = (org_id: string) => ({
  task: 'summaries.analyze' as const,
  payload: { org_id, response_id: randomUUID(), tries: 0 },
  traceparent: null,
});

test('a comment is analyzed while all places of another organization hang', async () => {
  const queue = createAnalystQueue({ db, limits: { total: 4, reserve: 1 } });
  const [busy, other] = [randomUUID(), randomUUID()];
  const hanging = Promise.withResolvers<void>();
  let begun = 0;
  const runs = Array.from({ length: 50 }, () =>
    queue.run(busy, jobOf(busy), async () => {
      begun += 1;
      await hanging.promise;
    }),
  );
  assert.equal(await queue.run(other, jobOf(other), async () => 'analyzed'), 'analyzed');
  assert.ok(begun > 0 && begun < 4, `${begun} of the busy organization had begun`);
  hanging.resolve();
  await Promise.all(runs);
  assert.equal(begun, 50);
});

test('jobs that wait for the analyst when the process stops go back, those that run are finished', async () => {
  const queue = createAnalystQueue({ db, limits: { total: 1, reserve: 0 } });
  const org = randomUUID();
  const running = Promise.withResolvers<string>();
  const began = Promise.withResolvers<void>();
  const first = queue.run(org, jobOf(org), () => {
    began.resolve();
    return running.promise;
  });
  await began.promise;
  const waiting = jobOf(org);
  const second = queue.run(org, waiting, async () => assert.fail('it must not begin'));

  queue.stop();
  assert.equal(await second, undefined);
  running.resolve('finished');
  assert.equal(await first, 'finished');
  const jobs = await db`select payload from outbox where payload ->> 'org_id' = ${org}`;
  assert.deepEqual(
    jobs.map(({ payload }) => payload),
    [waiting.payload],
  );
  const failing = createAnalystQueue({ db });
  await assert.rejects(
    failing.run(org, jobOf(org), async () => {
      throw new Error('a fault');
    }),
    /a fault/,
  );
});

test('histories that are analyzed again come in turn, after a comment that is new', async () => {
  const [long, short] = [await makeFeedback(db), await makeFeedback(db)];
  for (let n = 0; n < 3; n++) await long.answer(9, `A comment of ours ${n}`, '2026-05-02');
  await short.answer(9, 'A comment of theirs', '2026-05-02');
  await db`delete from outbox`;
  await enqueueAnalyses(db, long.id, start);
  await enqueueAnalyses(db, short.id, start);
  await handOver(db);
  await short.answer(9, 'A comment that is new', '2026-05-03');

  await handOver(db);
  const queued = await db`
    select priority, array_agg(case payload ->> 'org_id' when ${long.id} then 'long' else 'short' end
                               order by payload ->> 'org_id' = ${short.id}) as orgs
    from graphile_worker._private_jobs
    where payload ->> 'org_id' in (${long.id}, ${short.id}) and payload ->> 'response_id' is not null
    group by priority
    order by priority`;
  assert.deepEqual(
    queued.map(({ orgs }) => orgs),
    [['short'], ['long', 'short'], ['long'], ['long']],
  );
});
