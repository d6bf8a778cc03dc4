import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { type SubscriberClient, signHex } from '../../src/webhooks/deliver.ts';
import { plainSecrets, subscriber, testSecret } from '../support/fakes/subscriber.ts';
import { addDeliveries, type DeliveryFields } from '../support/make/delivery-rows.ts';
import { makeWebhook } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { makeCaller } from '../support/probe/caller.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

const appWith = (outbound: SubscriberClient) => testApp(db, { outbound, secrets: plainSecrets });
const caller = (outbound = subscriber(200).outbound) => makeCaller(db, appWith(outbound));

type Shown = Record<string, unknown> & { id: string; attempts: Record<string, unknown>[] };
type Caller = Awaited<ReturnType<typeof caller>>;

const shown = async ({ call }: Caller, webhook: string) =>
  (await call('GET', `/${webhook}/deliveries`)).body['deliveries'] as Shown[];

async function makeDelivery(
  org_id: string,
  webhook_id: string,
  over: Partial<DeliveryFields> = {},
) {
  const ended = { event: 'survey.completed', status: 'failed', ...over };
  const [id] = await addDeliveries(db, { org_id, webhook_id, ...ended });
  return id!;
}

test('a test event is signed, returned and added to the history', async () => {
  const { posts, outbound } = subscriber(202);
  const org = await caller(outbound);
  const webhook = await makeWebhook(db, org.id);

  const { status, body } = await org.call('POST', `/${webhook}/test`);

  assert.equal(status, 200);
  const { delivery_id, ...came } = body;
  assert.deepEqual(came, {
    delivered: true,
    status_code: 202,
    response_body: 'hello',
    duration_ms: 1,
    error: null,
  });
  const [post] = posts;
  const payload = JSON.parse(post!.body);
  assert.deepEqual([payload.version, payload.type], ['1', 'webhook.test']);
  assert.equal(post!.headers['X-Service-Event'], 'webhook.test');
  assert.equal(post!.headers['X-Service-Delivery-Id'], delivery_id);
  assert.equal(post!.headers['X-Service-Signature'], signHex(testSecret, post!.body));
  new Webhook(testSecret).verify(post!.body, post!.headers);
  const [delivery, ...others] = await shown(org, webhook);
  assert.deepEqual(
    [delivery?.id, delivery?.['status'], others.length],
    [delivery_id, 'delivered', 0],
  );
});

for (const outcome of [500, 301, null]) {
  test(`a test event that ends with ${outcome} is not retried or counted`, async () => {
    const org = await caller(subscriber(outcome).outbound);
    const webhook = await makeWebhook(db, org.id, { failure_count: 2 });

    const { status, body } = await org.call('POST', `/${webhook}/test`);

    assert.equal(status, 200);
    assert.deepEqual([body['delivered'], body['status_code']], [false, outcome]);
    assert.equal(body['error'], outcome === null ? 'no answer' : null);
    const [row] = await db`select active, failure_count from webhooks where id = ${webhook}`;
    assert.deepEqual({ ...row }, { active: true, failure_count: 2 });
    const [delivery] = await shown(org, webhook);
    assert.deepEqual([delivery?.['status'], delivery?.['next_attempt_at']], ['failed', null]);
    assert.equal(delivery?.attempts.length, 1);
  });
}

test('an inactive webhook can be tested and stays inactive', async () => {
  const org = await caller();
  const webhook = await makeWebhook(db, org.id, { active: false });
  const { body } = await org.call('POST', `/${webhook}/test`);
  assert.equal(body['delivered'], true);
  assert.equal((await org.call('GET', `/${webhook}`)).body['active'], false);
});

test('the history lists the last 50 deliveries, newest first', async () => {
  const org = await caller();
  const webhook = await makeWebhook(db, org.id);
  const ids: string[] = [];
  for (let n = 0; n < 52; n++) {
    const created_at = new Date(Date.UTC(2026, 0, 1, 0, n));
    ids.push(await makeDelivery(org.id, webhook, { created_at }));
  }
  assert.deepEqual(
    (await shown(org, webhook)).map(({ id }) => id),
    ids.reverse().slice(0, 50),
  );
});

test('the history shows all attempts and the last response', async () => {
  const org = await caller();
  const webhook = await makeWebhook(db, org.id);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const delivered_at = new Date('2026-02-03T04:05:11.120Z');
  const created_at = new Date('2026-02-03T04:05:06.007Z');
  const answer = { status_code: 200, response_body: 'ok', duration_ms: 20 };
  const over = { status: 'delivered', attempts: 2, ...answer };
  const id = await makeDelivery(org.id, webhook, {
    ...over,
    traceparent,
    created_at,
    delivered_at,
  });
  const of = { org_id: org.id, webhook_id: webhook, delivery_id: id };
  const first = '2026-02-03T04:05:06.100Z';
  await db`insert into delivery_attempts ${db([
    {
      ...of,
      number: 1,
      status_code: null,
      response_body: null,
      error: 'no',
      duration_ms: 9,
      at: first,
    },
  ])}`;

  const [delivery] = await shown(org, webhook);
  assert.partialDeepStrictEqual(delivery, {
    id,
    status: 'delivered',
    status_code: 200,
    response_body: 'ok',
    delivered_at: delivered_at.toISOString(),
    trace_id: '0af7651916cd43dd8448eb211c80319c',
  });
  const attempts = delivery!.attempts.map((each) => [each['number'], each['error'], each['at']]);
  assert.deepEqual(attempts, [
    [1, 'no', first],
    [2, null, delivered_at.toISOString()],
  ]);
});

test('after a rotation both secrets sign for 24 hours', async () => {
  const { posts, outbound } = subscriber(200);
  const org = await caller(outbound);
  const webhook = await makeWebhook(db, org.id);
  assert.equal((await org.call('POST', `/${webhook}/rotate-secret`)).status, 200);
  for (const age of ['23 hours 59 minutes', '2 minutes']) {
    await db`
      update webhooks set previous_secret_until = previous_secret_until - ${age}::interval
      where id = ${webhook}`;
    await org.call('POST', `/${webhook}/test`);
  }
  const signatures = posts.map(({ headers }) => headers['webhook-signature']!.split(' ').length);
  assert.deepEqual(signatures, [2, 1]);
});
