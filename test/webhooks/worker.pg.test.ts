import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createLog } from '../../src/lib/log/log.ts';
import type { Outbound } from '../../src/webhooks/deliver.ts';
import { emit } from '../../src/webhooks/emit.ts';
import { createDeliveryWorker, inFlightPerWebhook } from '../../src/webhooks/worker.ts';
import { hangingSubscriber, plainSecrets, subscriber } from '../support/fakes/subscriber.ts';
import { makeOrganization, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

async function pool() {
  const pool_id = `pool-${randomUUID()}`;
  const lock_key = Math.floor(Math.random() * 1e9);
  await db`insert into worker_pools ${db({ pool_id, lock_key })}`;
  return pool_id;
}

async function lanesOf(outbound: Outbound, claimer?: string) {
  const by = claimer ?? (await pool());
  return createDeliveryWorker({
    db,
    log: createLog({ level: 'silent' }),
    outbound,
    secrets: plainSecrets,
    settings: { serviceName: 'Service' },
    pump: () => {},
    claimer: () => by,
  });
}

/** A webhook with some deliveries due. */
async function backlog(events = 1) {
  const org_id = await makeOrganization(db);
  const webhook_id = await makeWebhook(db, org_id);
  const event = { type: 'response.received', body: '{"version":"1"}' } as const;
  await emit(db, { orgId: org_id, events: Array.from({ length: events }, () => event) });
  return { org_id, webhook_id };
}
type Lane = Awaited<ReturnType<typeof backlog>>;

const deliveries = (lane: Lane) => db`
  select status, attempts, status_code, response_body, claimed_by,
         round(extract(epoch from next_attempt_at - now()))::int as due_in_seconds
  from deliveries where webhook_id = ${lane.webhook_id}`;

const webhookOf = async (lane: Lane) => {
  const [row] = await db`
    select active, failure_count, deactivated_reason, last_delivery_at is not null as told
    from webhooks where id = ${lane.webhook_id}`;
  return { ...row };
};

const makeDue = (lane: Lane) => db`
  update deliveries set next_attempt_at = now()
  where webhook_id = ${lane.webhook_id} and status = 'pending'`;

/** Wakes the lane and waits until what it took in hand is recorded. */
async function run(outbound: Outbound, lane: Lane) {
  const lanes = await lanesOf(outbound);
  await lanes.wake(lane);
  await lanes.stop();
}

test('a delivery arrives signed over its bytes and is recorded', async () => {
  const lane = await backlog();
  const { posts, outbound } = subscriber(200);
  await run(outbound, lane);

  assert.deepEqual(
    { ...(await deliveries(lane))[0] },
    {
      status: 'delivered',
      attempts: 1,
      status_code: 200,
      response_body: 'hello',
      claimed_by: null,
      due_in_seconds: null,
    },
  );
  assert.equal(posts[0]?.body, '{"version":"1"}');
  assert.match(posts[0]?.headers['X-Service-Signature'] ?? '', /^[0-9a-f]{64}$/);
});

test('a failed attempt is due again five seconds later, with a job for that moment', async () => {
  const lane = await backlog();
  await run(subscriber(500).outbound, lane);

  const [delivery] = await deliveries(lane);
  assert.equal(delivery?.['status'], 'pending');
  assert.equal(delivery?.['due_in_seconds'], 5);
  const [job] = await db`
    select round(extract(epoch from run_at - now()))::int as in_seconds from outbox
    where payload ->> 'webhook_id' = ${lane.webhook_id} and run_at is not null`;
  assert.equal(job?.['in_seconds'], 5);
  assert.equal((await webhookOf(lane))['failure_count'], 0);
});

test('a job that a lane leaves behind names the webhook and nothing else', async () => {
  const lane = await backlog(3);
  await run(subscriber(500).outbound, lane);
  await makeDue(lane);
  await run(subscriber(500).outbound, lane);

  const jobs = await db`
    select task, payload from outbox
    where run_at is not null or task = 'webhooks.tell_deactivation'`;
  const own = jobs.filter(({ payload }) => payload.webhook_id === lane.webhook_id);
  assert.deepEqual(new Set(own.map(({ task }) => task)).size, 2);
  for (const { payload } of own) assert.deepEqual(payload, lane);
});

test('id, bytes and signature input are the same at each attempt', async () => {
  const lane = await backlog();
  const { posts, outbound } = subscriber(500, 200);
  await run(outbound, lane);
  await makeDue(lane);
  await run(outbound, lane);

  const same = ['X-Service-Delivery-Id', 'X-Service-Signature', 'webhook-id'];
  assert.equal(posts.length, 2);
  for (const name of same) assert.equal(posts[0]?.headers[name], posts[1]?.headers[name]);
  assert.equal(posts[0]?.body, posts[1]?.body);
  assert.equal((await deliveries(lane))[0]?.['attempts'], 2);
});

test('three deliveries that fail twice in a row switch the webhook off, with the reason', async () => {
  const lane = await backlog(3);
  const { outbound } = subscriber(503);
  await run(outbound, lane);
  await makeDue(lane);
  await run(outbound, lane);

  const webhook = await webhookOf(lane);
  assert.equal(webhook['active'], false);
  assert.equal(webhook['failure_count'], 3);
  assert.match(String(webhook['deactivated_reason']), /3 deliveries in a row failed.*status 503/);
  const told = await db`
    select from outbox where task = 'webhooks.tell_deactivation'
      and payload ->> 'webhook_id' = ${lane.webhook_id}`;
  assert.equal(told.length, 1);
});

test('a test that is delivered again and fails is not retried, and no failure of the webhook', async () => {
  const lane = await backlog();
  await db`update deliveries set event = 'webhook.test' where webhook_id = ${lane.webhook_id}`;
  await db`update webhooks set failure_count = 2 where id = ${lane.webhook_id}`;
  await run(subscriber(500).outbound, lane);

  const [delivery] = await deliveries(lane);
  assert.deepEqual([delivery?.['status'], delivery?.['attempts']], ['failed', 1]);
  const { active, failure_count } = await webhookOf(lane);
  assert.deepEqual([active, failure_count], [true, 2]);
});

test('what is due to a webhook that is switched off becomes skipped', async () => {
  const lane = await backlog(2);
  await db`update webhooks set active = false where id = ${lane.webhook_id}`;
  const { posts, outbound } = subscriber(200);
  await run(outbound, lane);

  assert.equal(posts.length, 0);
  assert.deepEqual(
    (await deliveries(lane)).map(({ status }) => status),
    ['skipped', 'skipped'],
  );
});

test('a success ends the run of failures', async () => {
  const lane = await backlog();
  await db`update webhooks set failure_count = 2 where id = ${lane.webhook_id}`;
  await run(subscriber(204).outbound, lane);
  assert.deepEqual(await webhookOf(lane), {
    active: true,
    failure_count: 0,
    deactivated_reason: null,
    told: true,
  });
});

test('a webhook that hangs holds no more than its share, and others go past it', async () => {
  const [dead, live] = [await backlog(100), await backlog(1)];
  const hanging = hangingSubscriber();
  const answering = subscriber(200);
  const posts = new Map([
    [dead.webhook_id, hanging.outbound],
    [live.webhook_id, answering.outbound],
  ]);
  await db`update webhooks set url = 'https://live.test/' where id = ${live.webhook_id}`;
  const outbound: Outbound = {
    post: (url, request) =>
      posts.get(url.includes('live') ? live.webhook_id : dead.webhook_id)!.post(url, request),
  };
  const lanes = await lanesOf(outbound);

  await lanes.wake(dead);
  await lanes.wake(live);
  assert.equal(hanging.hanging(), inFlightPerWebhook);
  assert.equal(answering.posts.length, 1);

  const stopped = lanes.stop();
  hanging.letGo();
  await stopped;
  assert.equal(hanging.mostAtOnce(), inFlightPerWebhook);
});

test('a retry that is due goes before a backlog', async () => {
  const lane = await backlog(100);
  await db`
    update deliveries set attempts = 1, next_attempt_at = now() - interval '1 ms'
    where id = (select id from deliveries where webhook_id = ${lane.webhook_id} limit 1)`;
  await db`
    update deliveries set next_attempt_at = now() - interval '1 hour'
    where webhook_id = ${lane.webhook_id} and attempts = 0`;
  const hanging = hangingSubscriber();
  const lanes = await lanesOf(hanging.outbound);
  await lanes.wake(lane);

  const [retry] = await db`
    select claimed_by is not null as in_hand from deliveries
    where webhook_id = ${lane.webhook_id} and attempts = 1`;
  assert.equal(retry?.['in_hand'], true);
  assert.equal(hanging.hanging(), inFlightPerWebhook);
  const stopped = lanes.stop();
  hanging.letGo();
  await stopped;
});

test('a backlog is worked off by one waking', async () => {
  const lane = await backlog(250);
  let arrived = 0;
  let all = () => {};
  const everything = new Promise<void>((resolve) => {
    all = resolve;
  });
  const { outbound } = subscriber(200);
  const lanes = await lanesOf({
    post: (url, request) => {
      arrived += 1;
      if (arrived === 250) all();
      return outbound.post(url, request);
    },
  });

  await lanes.wake(lane);
  await everything;
  await lanes.stop();

  const [left] = await db`
    select count(*)::int as pending from deliveries
    where webhook_id = ${lane.webhook_id} and status <> 'delivered'`;
  assert.equal(left?.['pending'], 0);
});

test('a lane that is to take no more leaves its backlog to others as soon as what it has in hand ends', async () => {
  const lane = await backlog(inFlightPerWebhook + 10);
  const hanging = hangingSubscriber();
  const lanes = await lanesOf(hanging.outbound);
  await lanes.wake(lane);

  lanes.takeNoMore();
  hanging.letGo();
  await lanes.wake(lane);
  await lanes.sweep();
  assert.equal(hanging.hanging(), 0);
  await lanes.stop();

  const [left] = await db`
    select count(*) filter (where status = 'pending')::int as pending,
           count(claimed_by)::int as claimed
    from deliveries where webhook_id = ${lane.webhook_id}`;
  assert.deepEqual({ ...left }, { pending: 10, claimed: 0 });
});

test('two processes never attempt the same delivery', async () => {
  const lane = await backlog(60);
  const { posts, outbound } = subscriber(200);
  const processes = await Promise.all([lanesOf(outbound), lanesOf(outbound)]);
  await Promise.all(processes.map((lanes) => lanes.wake(lane)));
  await Promise.all(processes.map((lanes) => lanes.stop()));

  const ids = posts.map(({ headers }) => headers['X-Service-Delivery-Id']);
  assert.equal(new Set(ids).size, ids.length);
});

test('what a dead process had in hand is attempted by another, and not before it is dead', async () => {
  const lane = await backlog();
  const dead = await pool();
  const hanging = hangingSubscriber();
  await (await lanesOf(hanging.outbound, dead)).wake(lane);

  const alive = await lanesOf(subscriber(200).outbound);
  await alive.sweep();
  assert.equal((await deliveries(lane))[0]?.['claimed_by'], dead);

  await db`delete from worker_pools where pool_id = ${dead}`;
  await alive.sweep();
  await alive.stop();
  assert.equal((await deliveries(lane))[0]?.['status'], 'delivered');
});

for (const errorKind of ['busy', 'cancelled'] as const) {
  test(`a delivery that was ${errorKind} is given back for a moment and counts as no attempt`, async () => {
    const lane = await backlog();
    const answer = { statusCode: null, body: '', error: errorKind, errorKind, durationMs: 1 };
    await run({ post: async () => answer }, lane);

    const [delivery] = await deliveries(lane);
    assert.deepEqual(
      [delivery?.['status'], delivery?.['attempts'], delivery?.['claimed_by']],
      ['pending', 0, null],
    );
    assert.equal(delivery?.['due_in_seconds'], 1);
  });
}

test('a delivery that cannot be attempted is given back for later', async () => {
  const lane = await backlog();
  const by = await pool();
  const lanes = createDeliveryWorker({
    db,
    log: createLog({ level: 'silent' }),
    outbound: subscriber(200).outbound,
    secrets: {
      ...plainSecrets,
      open: () => {
        throw new Error('sealed with another key');
      },
    },
    settings: { serviceName: 'Service' },
    pump: () => {},
    claimer: () => by,
  });
  await lanes.wake(lane);
  await lanes.stop();

  const [delivery] = await deliveries(lane);
  assert.deepEqual(
    [delivery?.['status'], delivery?.['claimed_by'], delivery?.['due_in_seconds']],
    ['pending', null, 60],
  );
});
