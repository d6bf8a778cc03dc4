import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SubscriberClient } from '../../src/webhooks/deliver.ts';
import { maxInFlight } from '../../src/webhooks/worker.ts';
import { hangingSubscriber, subscriber } from '../support/fakes/subscriber.ts';
import { countDeliveries, emitOwned, makePool, workerOf } from '../support/make/deliveries.ts';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import { makeOrganization, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();
type Worker = ReturnType<typeof workerOf>;

/** Records the row count of each statement that changes deliveries. */
await db`create table steps (place bigint generated always as identity, changed integer)`;
await db`
  create function note_step() returns trigger language plpgsql as $$
  begin
    insert into steps (changed) select count(*) from changed;
    return null;
  end $$`;
await db`
  create trigger note_step after delete on pending_deliveries
  referencing old table as changed for each statement execute function note_step()`;

const workerWith = async (outbound: SubscriberClient) => workerOf(db, outbound, await makePool(db));

async function makeTargets(webhooks: number) {
  const org_id = await makeOrganization(db);
  const made = Array.from({ length: webhooks }, () => makeWebhook(db, org_id));
  return (await Promise.all(made)).map((webhook_id) => ({ org_id, webhook_id }));
}

const event = { type: 'response.received', body: '{"version":"1"}' } as const;

const emitAs = (worker: Worker, orgId: string, count: number) =>
  emitOwned(db, worker, { orgId, events: Array.from({ length: count }, () => event) });

const mailJobs = (webhook_id: string) =>
  db`select from test.jobs where payload ->> 'webhook_id' = ${webhook_id}`;

test('nothing is written between a commit and its outcome', async () => {
  const [target] = await makeTargets(1);
  const { outbound, release, hanging } = hangingSubscriber();
  const worker = await workerWith(outbound);
  await db`truncate steps`;
  (await emitAs(worker, target!.org_id, 3)).start();

  await until('all are in flight', () => hanging() === 3);
  assert.equal((await db`select from steps`).length, 0);
  assert.equal((await mailJobs(target!.webhook_id)).length, 0);

  release();
  await worker.stop();
  assert.equal(await countDeliveries(db, target!, 'delivered'), 3);
});

test('outcomes of many webhooks are written in one statement', async () => {
  const targets = await makeTargets(30);
  const { outbound, release, hanging } = hangingSubscriber();
  const worker = await workerWith(outbound);
  await db`truncate steps`;
  (await emitAs(worker, targets[0]!.org_id, 2)).start();
  await until('all are in flight', () => hanging() === 60);

  release();
  await until('all are recorded', async () => (await db`select from steps`).length > 0);
  await worker.stop();
  const changed = (await db`select changed from steps order by place`).map(
    (step) => step['changed'],
  );
  assert.deepEqual(changed, [60]);
});

test('deliveries beyond the memory limit are delivered once', async () => {
  const [target] = await makeTargets(1);
  const ids: string[] = [];
  const { outbound, release, hanging, mostAtOnce } = hangingSubscriber();
  const worker = await workerWith({
    post(url, request) {
      ids.push(request.headers['X-Service-Delivery-Id']!);
      return ids.length > maxInFlight
        ? subscriber(200).outbound.post(url, request)
        : outbound.post(url, request);
    },
  });
  (await emitAs(worker, target!.org_id, 600)).start();
  await until('as many as allowed are in flight', () => hanging() === maxInFlight);

  release();
  await until('all are delivered', async () => {
    return (await countDeliveries(db, target!, 'delivered')) === 600;
  });
  await worker.stop();
  assert.equal(new Set(ids).size, 600);
  assert.equal(ids.length, 600);
  assert.equal(mostAtOnce(), maxInFlight);
});

test("only the process's own sweep finds a commit with a lost answer", async () => {
  const [target] = await makeTargets(1);
  const own = subscriber(200);
  const other = subscriber(200);
  const [owner, stranger] = [await workerWith(own.outbound), await workerWith(other.outbound)];
  await emitAs(owner, target!.org_id, 1); // the answer to the commit is lost: nothing is handed over
  await db`
    update pending_deliveries set next_attempt_at = now() - interval '3 seconds'
    where webhook_id = ${target!.webhook_id}`;

  await stranger.sweep();
  await stranger.wake(target!);
  await owner.sweep();
  await Promise.all([owner.stop(), stranger.stop()]);
  assert.deepEqual([own.posts.length, other.posts.length], [1, 0]);
});

for (const died of ['before its first attempt', 'while the subscriber answered'] as const) {
  test(`another process delivers after a crash ${died}`, async () => {
    const [target] = await makeTargets(1);
    const doomed = hangingSubscriber();
    const posts: { id: string | undefined; body: string }[] = [];
    const dead = await workerWith({
      post(url, request) {
        posts.push({ id: request.headers['X-Service-Delivery-Id'], body: request.body });
        return doomed.outbound.post(url, request);
      },
    });
    const emitted = await emitAs(dead, target!.org_id, 1);
    if (died === 'while the subscriber answered') emitted.start();
    await db`delete from worker_pools where pool_id = ${dead.owner()}`;

    const next = subscriber(200);
    const alive = await workerWith(next.outbound);
    await alive.sweep();
    await alive.stop();

    assert.equal(await countDeliveries(db, target!, 'delivered'), 1);
    const [again] = next.posts;
    for (const { id, body } of posts) {
      assert.deepEqual([again?.headers['X-Service-Delivery-Id'], again?.body], [id, body]);
    }
    doomed.release();
    await dead.stop();
    const [row] = await db`
      select attempts, duration_ms is not null as timed,
             (select count(*)::int from delivery_attempts where delivery_id = d.id) as failed
      from deliveries d where webhook_id = ${target!.webhook_id}`;
    assert.deepEqual({ ...row }, { attempts: 1, timed: true, failed: 0 });
  });
}

test('deliveries in memory are skipped when the webhook turns off', async () => {
  const [target] = await makeTargets(1);
  const { outbound, release, hanging } = hangingSubscriber();
  const worker = await workerWith(outbound);
  (await emitAs(worker, target!.org_id, maxInFlight + 20)).start();
  await until('as many as allowed are in flight', () => hanging() === maxInFlight);
  const readBefore = performance.now();
  await db`update webhooks set active = false where id = ${target!.webhook_id}`;
  await until('the cached webhook is stale', () => performance.now() - readBefore > 150);

  release();
  await until('the others are skipped', async () => {
    return (await countDeliveries(db, target!, 'skipped')) === 20;
  });
  await worker.stop();
  assert.equal(await countDeliveries(db, target!, 'delivered'), maxInFlight);
});

test('a locked delivery does not delay outcomes of other webhooks', async () => {
  const [locked, free] = await makeTargets(2);
  const { outbound, release, hanging } = hangingSubscriber();
  const worker = await workerWith(outbound);
  (await emitAs(worker, locked!.org_id, 1)).start();
  await until('both are in flight', () => hanging() === 2);
  await db.begin(async (tx) => {
    await tx`select from pending_deliveries where webhook_id = ${locked!.webhook_id} for update`;
    release();
    await until('the free one is recorded', async () => {
      return (await countDeliveries(db, free!, 'delivered')) === 1;
    });
    assert.equal(await countDeliveries(db, locked!, 'delivered'), 0);
  });
  await worker.stop();
  assert.equal(await countDeliveries(db, locked!, 'delivered'), 1);
});

/** A webhook with a full queue and the maximum of deliveries in flight. */
async function makeCrowded() {
  const [target] = await makeTargets(1);
  const ids: string[] = [];
  const hanging = hangingSubscriber();
  const worker = await workerWith({
    post(url, request) {
      ids.push(request.headers['X-Service-Delivery-Id']!);
      return hanging.outbound.post(url, request);
    },
  });
  (await emitAs(worker, target!.org_id, 400)).start();
  await until('the slots are taken', () => hanging.hanging() === maxInFlight);
  return { ...hanging, target: target!, worker, ids };
}

const crowdedOut = [
  ['a retry that is due', { attempts: 1, created_at: new Date() }],
  ['an older delivery of a dead process', { attempts: 0, created_at: new Date('2026-01-01') }],
] as const;
for (const [what, over] of crowdedOut) {
  test(`${what} does not wait for a full queue`, async () => {
    const { target, worker, ids, release, hanging } = await makeCrowded();
    const due = { next_attempt_at: new Date(Date.now() - 60_000), ...over };
    const [id] = await addDeliveries(db, { ...target, ...due });
    await worker.wake(target);

    release();
    await until('the next have started', () => hanging() === maxInFlight);
    assert.ok(ids.slice(maxInFlight, 2 * maxInFlight).includes(id!));
    const stopped = worker.stop();
    release();
    await stopped;
  });
}
