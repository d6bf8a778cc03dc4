import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redeliver } from '../../src/webhooks/replay.ts';
import { eraseBodiesOf } from '../../src/webhooks/retention.ts';
import { hangingSubscriber, subscriber } from '../support/fakes/subscriber.ts';
import { countDeliveries, emitOwned, makePool, workerOf } from '../support/make/deliveries.ts';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import { makeOrganization, makeWebhook, writeKeyOf } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();

test('deleting a webhook does not delay other outcomes', async () => {
  const org_id = await makeOrganization(db);
  const [gone, stays] = [await makeWebhook(db, org_id), await makeWebhook(db, org_id)];
  const { outbound, release, hanging } = hangingSubscriber();
  const worker = workerOf(db, outbound, await makePool(db));
  const event = { type: 'response.received', body: '{"version":"1"}' } as const;
  (await emitOwned(db, worker, { orgId: org_id, events: [event] })).start();
  await until('both are in flight', () => hanging() === 2);

  await db.begin(async (tx) => {
    await tx`select from webhooks where id = ${gone} for update`; // a deletion begins with it
    release();
    const other = { org_id, webhook_id: stays };
    await until(
      'the other is recorded',
      async () => (await countDeliveries(db, other, 'delivered')) === 1,
    );
    await tx`delete from webhooks where id = ${gone}`;
  });
  await worker.stop();
  assert.equal((await db`select from deliveries where webhook_id = ${gone}`).length, 0);
});

test('an event is stored once for all of its webhooks', async () => {
  const org_id = await makeOrganization(db);
  const webhooks = await Promise.all(Array.from({ length: 5 }, () => makeWebhook(db, org_id)));
  const { posts, outbound } = subscriber(200);
  const worker = workerOf(db, outbound, await makePool(db));
  const event = { type: 'response.received', body: '{"version":"1","n":7}' } as const;
  (await emitOwned(db, worker, { orgId: org_id, events: [event] })).start();
  await until('all arrived', () => posts.length === webhooks.length);
  await worker.stop();

  assert.equal((await db`select from events where org_id = ${org_id}`).length, 1);
  assert.deepEqual([...new Set(posts.map(({ body }) => body))], [event.body]);
  assert.equal(new Set(posts.map(({ headers }) => headers['webhook-id'])).size, 5);
});

test('rejects a redelivery while its event is being erased', async () => {
  const org_id = await makeOrganization(db);
  const webhookId = await makeWebhook(db, org_id);
  const responseId = crypto.randomUUID();
  const body = JSON.stringify({ responseId, comment: 'treacle' });
  const ended = { event: 'detractor.detected', body, status: 'failed' };
  const [deliveryId] = await addDeliveries(db, { org_id, webhook_id: webhookId, ...ended });
  let again: Promise<unknown> = Promise.resolve();
  await db.begin(async (tx) => {
    const erased = { responseIds: [responseId], since: new Date(Date.now() - 60_000) };
    assert.equal(await eraseBodiesOf(tx, org_id, erased), 1);
    const which = { webhookId, deliveryId: deliveryId! };
    again = assert.rejects(redeliver({ db }, writeKeyOf(org_id), which), {
      code: 'erased',
    });
    await untilLockWaits(db);
  });
  await again;
  assert.equal((await db`select from pending_deliveries where org_id = ${org_id}`).length, 0);
});
