import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import * as v from 'valibot';
import { enqueue, enqueueEach, enqueueEachTraced } from '../../../src/jobs.ts';
import { connect, type Sql } from '../../../src/lib/db/db.ts';
import { aheadMs } from '../../../src/lib/queue/due-times.ts';
import { handOver } from '../../../src/lib/queue/pump.ts';
import { task } from '../../../src/lib/queue/task.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { enqueueDelivery, recordingTask, workOn } from '../../support/probe/jobs.ts';
import { until } from '../../support/probe/until.ts';

const { db, url } = await testDatabase();

const queued = () => db<{ payload: { webhook_id: string } }[]>`
  select payload from graphile_worker._private_jobs`;

async function emptyQueue() {
  while ((await handOver(db)).handed > 0);
  await db`delete from graphile_worker._private_jobs`;
}

test('a job of a transaction that was rolled back does not exist', async () => {
  await emptyQueue();
  const undone = db.begin(async (tx) => {
    await enqueue(tx, [{ task: 'sends.mail', payload: { org_id: '', mail_ids: [] } }]);
    throw new Error('changed our mind');
  });
  await assert.rejects(undone, /changed our mind/);
  const kept = await enqueueDelivery(db);

  await handOver(db);

  assert.deepEqual(
    (await queued()).map(({ payload }) => payload.webhook_id),
    [kept],
  );
});

test('a handover does not wait for the disk, and nothing that is committed after it is spared the wait', async () => {
  await emptyQueue();
  const own = connect(url, { connections: 1 });
  const waits = async (sql: Sql) => {
    const [now] = await sql<{ it: string }[]>`select current_setting('synchronous_commit') as it`;
    return now!.it;
  };
  await own`set synchronous_commit = on`;
  await enqueueDelivery(own);

  const within = await own.begin(async (tx) => [(await handOver(tx)).handed, await waits(tx)]);
  const after = await waits(own);

  await own.end();
  assert.deepEqual({ within, after }, { within: [1, 'off'], after: 'on' });
});

test('a batch has the oldest rows of the outbox, and the queue gets them oldest first, to be tried ten times', async () => {
  await emptyQueue();
  await db`
    insert into outbox (id, task, payload) overriding system value
    select 2000000000 - n, 'webhooks.deliver', json_build_object('webhook_id', 1001 - n)
    from generate_series(0, 1000) n`;

  const { handed } = await handOver(db);

  const given = await db<{ place: number }[]>`
    select (payload->>'webhook_id')::int as place from graphile_worker._private_jobs order by id`;
  assert.equal(handed, 1000);
  assert.deepEqual(
    given.map(({ place }) => place),
    Array.from({ length: 1000 }, (_, n) => n + 1),
  );
  const limits = await db`select distinct max_attempts from graphile_worker._private_jobs`;
  assert.deepEqual([...limits], [{ max_attempts: 10 }]);
});

test('a handover says how many of its jobs are due soon, and not how many are due now or much later', async () => {
  await emptyQueue();
  const soon = await db.begin(async (tx) => {
    await tx`
      insert into outbox (task, payload, run_at)
      select 'webhooks.deliver', '{}', now() + make_interval(secs => ms / 1000.0)
      from unnest(${[0, 1, aheadMs - 1, aheadMs, 60_000]}::int[]) ms`;
    return (await handOver(tx)).soon;
  });
  assert.equal(soon, 2);
});

test('two pumps at once hand each row over once', async () => {
  await emptyQueue();
  const ids = await Promise.all(Array.from({ length: 20 }, () => enqueueDelivery(db)));
  const other = connect(url, { connections: 1 });

  // The other pump holds half of the rows in a transaction that has not ended.
  await other.begin(async (tx) => {
    await tx`select from outbox order by id limit 10 for update`;
    assert.equal((await handOver(db)).handed, 10);
  });
  const rest = await Promise.all([handOver(db), handOver(other)]);

  assert.equal(rest[0].handed + rest[1].handed, 10);
  const found = (await queued()).map(({ payload }) => payload.webhook_id);
  assert.deepEqual(found.sort(), ids.sort());
  await other.end();
});

test('the transaction that enqueues sends no notification', async () => {
  const listener = connect(url, { connections: 1 });
  const received = Promise.withResolvers<string>();
  await listener.listen('jobs:insert', received.resolve);

  await db.begin(async (tx) => {
    await enqueue(tx, [{ task: 'sends.mail', payload: { org_id: '', mail_ids: [] } }]);
  });
  // Notifications arrive in the order of the commits: one of the transaction's would come first.
  await db`select pg_notify('jobs:insert', 'after the commit')`;

  assert.equal(await received.promise, 'after the commit');
  await listener.end();
});

test('an empty outbox sends no notification', async () => {
  await emptyQueue();
  const listener = connect(url, { connections: 1 });
  const received = Promise.withResolvers<string>();
  await listener.listen('jobs:insert', received.resolve);

  assert.equal((await handOver(db)).handed, 0);
  await db`select pg_notify('jobs:insert', 'after the pump')`;

  assert.equal(await received.promise, 'after the pump');
  await listener.end();
});

test('more rows than one batch leave with one nudge', async (t) => {
  await emptyQueue();
  await db`
    insert into outbox (task, payload)
    select 'summaries.write', '{}' from generate_series(1, 2500)`;
  await workOn(t, { db, url, tasks: { 'webhooks.deliver': async () => {} } });

  await until('the outbox is empty', async () => {
    const [{ rows }] = await db<[{ rows: number }]>`select count(*)::int as rows from outbox`;
    return rows === 0;
  });

  assert.equal((await queued()).length, 2500);
});

test('the payload arrives as it was, with the trace it belongs to', async (t) => {
  const runs = recordingTask();
  const jobs = await workOn(t, { db, url, tasks: { 'webhooks.deliver': runs.task } });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

  const id = await enqueueDelivery(db, { traceparent });
  jobs.pump();

  const { payload, job } = await runs.start(id);
  assert.equal(payload['webhook_id'], id);
  assert.equal(job.traceparent, traceparent);
  assert.ok(job.maxAttempts >= 5, 'a crash must not use up the attempts');
});

const inTrace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const webhook = { org_id: 'org', webhook_id: 'webhook' };
const payload = (sql: Sql): ReturnType<Sql> =>
  sql`select ${JSON.stringify(webhook)}::text::jsonb as payload`;
const waysToEnqueue: [way: string, write: (sql: Sql, trace: string | null) => unknown][] = [
  [
    'with others',
    (sql, traceparent) =>
      enqueue(sql, [{ task: 'webhooks.deliver', payload: webhook, traceparent }]),
  ],
  [
    'from a select',
    (sql, traceparent) => enqueueEach(sql, { task: 'webhooks.deliver', traceparent }, payload(sql)),
  ],
  [
    'from a select with spans',
    (sql, traceparent) =>
      enqueueEachTraced(sql, 'webhooks.deliver', sql`${payload(sql)}, ${traceparent}::text`),
  ],
];
for (const [way, write] of waysToEnqueue) {
  test(`a job that is written ${way} carries its cause, if there is one`, async () => {
    const written = async (traceparent: string | null) => {
      await emptyQueue();
      const began = Date.now();
      await write(db, traceparent);
      const [row] = await db`select task, payload, run_at from outbox`;
      const { _caused_at: causedAt, ...rest } = row!['payload'] as { _caused_at?: number };
      return {
        ...row,
        payload: rest,
        inTime: causedAt !== undefined && causedAt >= began && causedAt <= Date.now(),
      };
    };
    const job = { task: 'webhooks.deliver', run_at: null };
    assert.deepEqual(await written(inTrace), {
      ...job,
      payload: { ...webhook, _trace: inTrace },
      inTime: true,
    });
    assert.deepEqual(await written(null), { ...job, payload: webhook, inTime: false });
  });
}

test('a payload that is not of its form never reaches the task, and the job stays', async (t) => {
  await emptyQueue();
  const reached: unknown[] = [];
  const strict = task(v.object({ webhook_id: v.literal('never') }), async (payload) => {
    reached.push(payload);
  });
  const jobs = await workOn(t, { db, url, tasks: { 'webhooks.deliver': strict } });

  await enqueueDelivery(db);
  jobs.pump();

  await until('the job has failed', async () => {
    const [job] = await db`select last_error, attempts from graphile_worker.jobs`;
    return job?.['attempts'] === 1 && /webhook_id|never/.test(job['last_error'] ?? '');
  });
  assert.deepEqual(reached, []);
});

test('a row without a nudge is handed over by itself', async (t) => {
  const runs = recordingTask();
  await workOn(t, { db, url, tasks: { 'webhooks.deliver': runs.task } });

  const id = await enqueueDelivery(db);

  assert.equal((await runs.start(id)).job.attempt, 1);
});

test('other work is reported as long as it is there', async (t) => {
  await db`create table other_work (id integer)`;
  t.after(() => db`drop table other_work`);
  let found = 0;
  await workOn(t, {
    db,
    url,
    tasks: { 'webhooks.deliver': recordingTask().task },
    otherWork: {
      exists: (sql) => sql`exists (select from other_work)`,
      onFound: () => {
        found += 1;
      },
    },
  });
  assert.equal(found, 0);

  await db`insert into other_work values (1)`;
  await until('it is found twice', async () => found >= 2);
});

test('each group of tasks has a runner of its own, and a group without tasks has none', async (t) => {
  const size = { concurrency: 1, localQueue: 1 };
  const jobs = await workOn(t, {
    db,
    url,
    tasks: { 'sends.mail': async () => {}, 'webhooks.deliver': async () => {} },
    groups: {
      idle: { takes: () => false, ...size },
      mail: { takes: (task) => task === 'sends.mail', ...size },
      rest: { takes: () => true, ...size },
    },
  });

  assert.deepEqual(jobs.state(), {
    mail: { state: 'running', restarts: 0 },
    rest: { state: 'running', restarts: 0 },
  });
  const pools = await db`select pool_id from worker_pools`;
  assert.equal(pools.length, 2);
});

test('a batch wakes the runner of its tasks and no other runner', async (t) => {
  await emptyQueue();
  const query = t.mock.method(pg.Client.prototype, 'query');
  const fetches = () =>
    query.mock.calls.filter(({ arguments: [asked] }) =>
      /skip locked/.test((asked as { text?: string } | undefined)?.text ?? String(asked)),
    ).length;
  const size = { concurrency: 10, localQueue: 10 };
  const recorded = recordingTask();
  const jobs = await workOn(t, {
    db,
    url,
    tasks: {
      'sends.mail': async () => {},
      'summaries.month': async () => {},
      'webhooks.deliver': recorded.task,
    },
    groups: {
      mail: { takes: (task) => task === 'sends.mail', ...size },
      reading: { takes: (task) => task === 'summaries.month', ...size },
      rest: { takes: () => true, ...size },
    },
    timing: { pollMs: 60_000, sweepMs: 60_000 },
  });
  const workOff = async () => {
    const id = await enqueueDelivery(db);
    jobs.pump();
    await recorded.start(id);
    await until('the queue is empty', async () => (await queued()).length === 0);
  };
  await workOff(); // the first batch makes its connection known
  const [before, batches] = [fetches(), 10];
  for (let batch = 0; batch < batches; batch += 1) await workOff();
  // One fetch for a job and at most one more by its runner; with those of the others there would be four.
  const perBatch = (fetches() - before) / batches;
  assert.ok(perBatch <= 3, `${perBatch} fetches`);
});
