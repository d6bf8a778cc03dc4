import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SubscriberClient } from '../../src/webhooks/deliver.ts';
import type { WebhookRef } from '../../src/webhooks/delivery.queries.ts';
import { emit } from '../../src/webhooks/emit.ts';
import { createDeliveryWorker, maxInFlight } from '../../src/webhooks/worker.ts';
import { hangingSubscriber, plainSecrets, subscriber } from '../support/fakes/subscriber.ts';
import { makeBacklog, makePool, workerOf } from '../support/make/deliveries.ts';
import { makeTests } from '../support/make/delivery-rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { keptLog } from '../support/probe/log.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();

const deliveries = (target: WebhookRef) => db`
  select status, attempts, status_code, response_body, claimed_by, next_attempt_at
  from deliveries where webhook_id = ${target.webhook_id}`;

const webhookOf = async (target: WebhookRef) => {
  const [row] = await db`
    select active, failure_count, deactivated_reason, last_delivery_at is not null as attempted
    from webhooks where id = ${target.webhook_id}`;
  return { ...row };
};

const makeDue = (target: WebhookRef) => db`
  update pending_deliveries set next_attempt_at = now()
  where webhook_id = ${target.webhook_id}`;

/** Wakes the queue and waits until the attempts are recorded. Returns the times of the run. */
async function run(outbound: SubscriberClient, target: WebhookRef) {
  const worker = workerOf(db, outbound, await makePool(db));
  const begun = Date.now();
  await worker.wake(target);
  await worker.stop();
  return { begun, ended: Date.now() };
}

/** Asserts a wait since a moment of the run, which may be slow. */
function assertDue(at: Date, { begun, ended }: { begun: number; ended: number }, seconds: number) {
  const recorded = at.getTime() - 1000 * seconds;
  assert.ok(begun <= recorded && recorded <= ended, `${begun} ${recorded} ${ended}`);
}

test('a delivery is signed and recorded', async () => {
  const target = await makeBacklog(db, 1);
  const { posts, outbound } = subscriber(200);
  await run(outbound, target);

  assert.deepEqual(
    { ...(await deliveries(target))[0] },
    {
      status: 'delivered',
      attempts: 1,
      status_code: 200,
      response_body: 'hello',
      claimed_by: null,
      next_attempt_at: null,
    },
  );
  assert.equal(posts[0]?.body, '{"version":"1"}');
  assert.match(posts[0]?.headers['X-Service-Signature'] ?? '', /^[0-9a-f]{64}$/);
});

test('a failed attempt is retried by a job after five seconds', async () => {
  const target = await makeBacklog(db, 1);
  const times = await run(subscriber(500).outbound, target);

  const [delivery] = await deliveries(target);
  assert.equal(delivery?.['status'], 'pending');
  assertDue(delivery['next_attempt_at'], times, 5);
  const [job] = await db`
    select run_at from test.jobs
    where payload ->> 'webhook_id' = ${target.webhook_id} and run_at > created_at`;
  assert.deepEqual(job?.['run_at'], delivery['next_attempt_at']);
  assert.equal((await webhookOf(target))['failure_count'], 0);
});

test('id, body and signature input are the same for each attempt', async () => {
  const target = await makeBacklog(db, 1);
  const { posts, outbound } = subscriber(500, 200);
  await run(outbound, target);
  await makeDue(target);
  await run(outbound, target);

  const same = ['X-Service-Delivery-Id', 'X-Service-Signature', 'webhook-id'];
  assert.equal(posts.length, 2);
  for (const name of same) assert.equal(posts[0]?.headers[name], posts[1]?.headers[name]);
  assert.equal(posts[0]?.body, posts[1]?.body);
  assert.equal((await deliveries(target))[0]?.['attempts'], 2);
});

/** A webhook with extended retries, two failures and no delivery for some days. */
async function patientBacklog(days: number) {
  const target = await makeBacklog(db, 1);
  await db`
    update webhooks
    set retries = 'extended', failure_count = 2, undelivered_since = now() - make_interval(days => ${days})
    where id = ${target.webhook_id}`;
  return target;
}

test('extended retries schedule a job per attempt', async () => {
  const target = await patientBacklog(0);
  await run(subscriber(500).outbound, target);
  await db`
    update pending_deliveries set attempts = 6, next_attempt_at = now()
    where webhook_id = ${target.webhook_id}`;
  const { begun, ended } = await run(subscriber(500).outbound, target);

  const [delivery] = await deliveries(target);
  const due: Date = delivery?.['next_attempt_at'];
  assert.deepEqual([delivery?.['status'], delivery?.['attempts']], ['pending', 7]);
  assert.ok(+due - begun >= 0.9 * 36_000_000 && +due - ended <= 1.1 * 36_000_000, String(due));
  const [job] = await db`
    select run_at from test.jobs
    where payload ->> 'webhook_id' = ${target.webhook_id} and run_at > now() + interval '1 hour'`;
  assert.deepEqual(job?.['run_at'], due);
});

test('a delivery restarts the three days, but a test does not', async () => {
  const undelivered = async ({ webhook_id }: WebhookRef) =>
    (
      await db`
      select undelivered_since < now() - interval '1 day' as is_long from webhooks where id = ${webhook_id}`
    )[0]!['is_long'];
  for (const failures of [0, 2]) {
    const target = await patientBacklog(5);
    await db`update webhooks set failure_count = ${failures} where id = ${target.webhook_id}`;
    await makeTests(db, target.webhook_id);
    await run(subscriber(200).outbound, target);
    assert.equal(await undelivered(target), true);

    const event = { type: 'response.received', body: '{"version":"1"}' } as const;
    await emit(db, { orgId: target.org_id, events: [event] });
    await run(subscriber(200).outbound, target);
    assert.equal(await undelivered(target), false);
  }
});

test('a stopping worker leaves its backlog to others', async () => {
  const target = await makeBacklog(db, maxInFlight + 10);
  const hanging = hangingSubscriber();
  const worker = workerOf(db, hanging.outbound, await makePool(db));
  await worker.wake(target);
  await until('as many as allowed are in flight', () => hanging.hanging() === maxInFlight);

  worker.stopClaiming();
  hanging.release();
  await worker.wake(target);
  await worker.sweep();
  assert.equal(hanging.hanging(), 0);
  await worker.stop();

  const [left] = await db`
    select count(*) filter (where status = 'pending')::int as pending,
           count(claimed_by)::int as claimed
    from deliveries where webhook_id = ${target.webhook_id}`;
  assert.deepEqual({ ...left }, { pending: 10, claimed: 0 });
});

test('two processes never attempt the same delivery', async () => {
  const target = await makeBacklog(db, 60);
  const { posts, outbound } = subscriber(200);
  const processes = [await makePool(db), await makePool(db)].map((by) =>
    workerOf(db, outbound, by),
  );
  await Promise.all(processes.map((worker) => worker.wake(target)));
  await Promise.all(processes.map((worker) => worker.stop()));

  const ids = posts.map(({ headers }) => headers['X-Service-Delivery-Id']);
  assert.equal(new Set(ids).size, ids.length);
});

for (const errorKind of ['busy', 'cancelled'] as const) {
  test(`a delivery that was ${errorKind} is postponed and not counted`, async () => {
    const target = await makeBacklog(db, 1);
    const answer = {
      statusCode: null,
      body: '',
      retryAfterSeconds: null,
      error: errorKind,
      errorKind,
      durationMs: 1,
    };
    const times = await run({ post: async () => answer }, target);

    const [delivery] = await deliveries(target);
    assert.deepEqual(
      [delivery?.['status'], delivery?.['attempts'], delivery?.['claimed_by']],
      ['pending', 0, null],
    );
    assertDue(delivery?.['next_attempt_at'], times, 1);
  });
}

test('a delivery that cannot be attempted is postponed and logged', async () => {
  const target = await makeBacklog(db, 1);
  const by = await makePool(db);
  const { lines, log } = keptLog();
  const worker = createDeliveryWorker({
    db,
    log,
    outbound: subscriber(200).outbound,
    secrets: {
      ...plainSecrets,
      open: () => {
        throw new Error('sealed with another key');
      },
    },
    settings: { serviceName: 'Service' },
    claimer: () => by,
  });
  const begun = Date.now();
  await worker.wake(target);
  await worker.stop();

  const times = { begun, ended: Date.now() };
  const [delivery] = await deliveries(target);
  assert.deepEqual([delivery?.['status'], delivery?.['claimed_by']], ['pending', null]);
  assertDue(delivery?.['next_attempt_at'], times, 60);
  const [row] = await db<{ id: string }[]>`
    select id from deliveries where webhook_id = ${target.webhook_id}`;
  const fields = { delivery_id: row!.id, err: 'sealed with another key' };
  assert.deepEqual(lines, [['error', 'a delivery could not be attempted', fields]]);
});
