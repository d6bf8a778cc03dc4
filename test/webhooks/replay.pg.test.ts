import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { lockStanding } from '../../src/webhooks/record.ts';
import { subscriber } from '../support/fakes/subscriber.ts';
import { makePool, workerOf } from '../support/make/deliveries.ts';
import { addDeliveries, idAt, makeTests } from '../support/make/delivery-rows.ts';
import { makeWebhook } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { makeCaller } from '../support/probe/caller.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);

/** One delivery per status, a day apart, starting on 1 January. */
async function history(...statuses: string[]) {
  const org = await makeCaller(db, app);
  const webhook = await makeWebhook(db, org.id);
  const made = statuses.map((status, day) => ({
    org_id: org.id,
    id: idAt(new Date(Date.UTC(2026, 0, 1 + day))),
    message_id: randomUUID(),
    webhook_id: webhook,
    event: 'survey.completed',
    body: `{"version":"1","day":${day}}`,
    status,
    created_at: new Date(Date.UTC(2026, 0, 1 + day)),
    next_attempt_at: status === 'pending' ? new Date() : null,
  }));
  await addDeliveries(db, ...made);
  return { ...org, webhook, made };
}

const again = (webhook: string) => db`
  select message_id, event, body, status, attempts from deliveries
  where webhook_id = ${webhook} and created_at > '2026-06-01' order by body`;

const jobs = async (webhook: string) =>
  (await db`select from test.jobs where payload ->> 'webhook_id' = ${webhook}`).length;

for (const status of ['delivered', 'failed', 'skipped']) {
  test(`redelivers a ${status} delivery with the same webhook-id`, async () => {
    const { call, webhook, made } = await history(status);
    const [old] = made;

    const answer = await call('POST', `/${webhook}/deliveries/${old!.id}/redeliver`);

    assert.deepEqual(answer, { status: 202, body: { redelivered: 1 } });
    const { message_id, event, body } = old!;
    assert.deepEqual(
      (await again(webhook)).map((row) => ({ ...row })),
      [{ message_id, event, body, status: 'pending', attempts: 0 }],
    );
    assert.equal(await jobs(webhook), 1);
    const { deliveries } = (await call('GET', `/${webhook}/deliveries`)).body;
    assert.equal((deliveries as unknown[]).length, 2);
  });
}

test('a replay covers skipped and failed deliveries since a time', async () => {
  const { call, webhook, made } = await history(
    'failed',
    'skipped',
    'delivered',
    'failed',
    'pending',
  );
  const since = made[1]!.created_at.toISOString();

  const answer = await call('POST', `/${webhook}/replay`, { body: { since } });

  assert.deepEqual(answer, { status: 202, body: { replayed: 2 } });
  assert.deepEqual(
    (await again(webhook)).map(({ message_id }) => message_id),
    [made[1]!.message_id, made[3]!.message_id],
  );
  assert.equal(await jobs(webhook), 1);
});

test('a second replay finds nothing', async () => {
  const { call, webhook } = await history('failed', 'skipped');
  const body = { since: '2026-01-01' };
  assert.deepEqual((await call('POST', `/${webhook}/replay`, { body })).body, { replayed: 2 });
  assert.deepEqual((await call('POST', `/${webhook}/replay`, { body })).body, { replayed: 0 });
  assert.equal(await jobs(webhook), 1);
});

test('a test event is not replayed', async () => {
  const { call, webhook } = await history('failed');
  await makeTests(db, webhook);
  const answer = await call('POST', `/${webhook}/replay`, { body: { since: '2026-01-01' } });
  assert.deepEqual(answer.body, { replayed: 0 });
});

const malformed = [undefined, null, 7, '', 'yesterday', '1', '2026-02-30', 'March 7, 2026'];
for (const since of malformed) {
  test(`rejects a replay since ${JSON.stringify(since)}`, async () => {
    const { call, webhook } = await history('failed');
    const answer = await call('POST', `/${webhook}/replay`, { body: { since } });
    assert.equal(answer.status, 400);
    assert.match(String(answer.body['error']), /since/);
    assert.deepEqual([(await again(webhook)).length, await jobs(webhook)], [0, 0]);
  });
}

test('an inactive webhook rejects redelivery and replay', async () => {
  const { call, webhook, made } = await history('skipped');
  await call('PUT', `/${webhook}`, { body: { active: false } });
  const answers = [
    await call('POST', `/${webhook}/deliveries/${made[0]!.id}/redeliver`),
    await call('POST', `/${webhook}/replay`, { body: { since: '2026-01-01T00:00:00Z' } }),
  ];
  for (const { status, body } of answers) {
    assert.deepEqual([status, body['code']], [400, 'webhook_inactive']);
  }
  assert.equal((await again(webhook)).length, 0);
});

test('turning a webhook off skips pending deliveries at once', async () => {
  const { call, webhook } = await history('pending');
  await db`
    update pending_deliveries set attempts = 1, next_attempt_at = now() + interval '9 hours'
    where webhook_id = ${webhook}`;
  await call('PUT', `/${webhook}`, { body: { active: false } });
  assert.equal(await jobs(webhook), 1);
});

test('rejects a replay while another one runs', async () => {
  const { id, call, webhook } = await history('skipped');
  const body = { since: '2026-01-01' };
  await db.begin(async (tx) => {
    assert.ok(await lockStanding(tx, { org_id: id, webhook_id: webhook }));
    const answer = await call('POST', `/${webhook}/replay`, { body });
    assert.deepEqual([answer.status, answer.body['code']], [409, 'replay_under_way']);
  });
  assert.deepEqual((await call('POST', `/${webhook}/replay`, { body })).body, { replayed: 1 });
});

test('replays after turning off and on do not multiply deliveries', async () => {
  const { id, call, webhook } = await history(...Array(20).fill('skipped'));
  const body = { since: '2026-01-01' };
  const worker = workerOf(db, subscriber(200).outbound, await makePool(db));
  for (let round = 0; round < 4; round++) {
    assert.deepEqual((await call('POST', `/${webhook}/replay`, { body })).body, { replayed: 20 });
    await call('PUT', `/${webhook}`, { body: { active: false } });
    await worker.wake({ org_id: id, webhook_id: webhook });
    await call('PUT', `/${webhook}`, { body: { active: true } });
  }
  await worker.stop();
  const kept = await db`select from deliveries where webhook_id = ${webhook}`;
  assert.equal(kept.length, 20);
});
