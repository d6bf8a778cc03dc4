import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainSecrets } from '../support/fakes/subscriber.ts';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import { makeWebhook } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { makeCaller } from '../support/probe/caller.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db, { secrets: plainSecrets });

const change = { url: 'https://elsewhere.example.com/', active: true };
const since = { since: '2020-01-01T00:00:00Z' };

/** Every route of a webhook, with a request that its owner may make. */
const places: [method: string, below: string, body?: object][] = [
  ['GET', ''],
  ['PUT', '', change],
  ['DELETE', ''],
  ['POST', '/rotate-secret'],
  ['POST', '/test'],
  ['GET', '/deliveries'],
  ['POST', '/deliveries/DELIVERY/redeliver'],
  ['POST', '/replay', since],
];

async function owned() {
  const owner = await makeCaller(db, app);
  const webhook = await makeWebhook(db, owner.id);
  const failed = { org_id: owner.id, webhook_id: webhook, status: 'failed' };
  const [delivery] = await addDeliveries(db, failed);
  const stored = async () => [
    ...(await db`select * from webhooks where id = ${webhook}`),
    ...(await db`select * from deliveries where webhook_id = ${webhook}`),
  ];
  const path = (below: string) => `/${webhook}${below.replace('DELIVERY', delivery!)}`;
  return { ...owner, webhook, delivery, path, stored };
}

for (const [method, below, body] of places) {
  const place = `${method} /api/webhooks/:id${below}`;

  test(`${place} returns 404 for another organization`, async () => {
    const { path, stored } = await owned();
    const stranger = await makeCaller(db, app);
    const before = await stored();

    const answer = await stranger.call(method, path(below), { body });

    assert.equal(answer.status, 404, JSON.stringify(answer.body));
    assert.deepEqual(await stored(), before);
  });

  test(`${place} ${method === 'GET' ? 'accepts' : 'rejects'} a read key`, async () => {
    const { call, read, path, stored } = await owned();
    const before = await stored();
    const answer = await call(method, path(below), { body, headers: read });
    assert.equal(answer.status, method === 'GET' ? 200 : 403);
    assert.deepEqual(await stored(), before);
  });
}

test('returns 404 for invalid and foreign delivery ids', async () => {
  const { call, id, webhook, delivery } = await owned();
  const other = await makeWebhook(db, id);
  const paths = [
    `/${webhook}/deliveries/7/redeliver`,
    `/${other}/deliveries/${delivery}/redeliver`,
  ];
  for (const path of paths) assert.equal((await call('POST', path)).status, 404);
});

test('returns 405 with the allowed methods', async () => {
  const { write, webhook } = await owned();
  const path = `/api/webhooks/${webhook}`;
  const answer = await app.request(path, { method: 'PATCH', headers: write });
  assert.equal(answer.status, 405);
  assert.equal(answer.headers.get('Allow'), 'DELETE, GET, HEAD, OPTIONS, PUT');
});

for (const method of ['PUT', 'DELETE', 'PATCH', 'POST']) {
  test(`${method} /api/webhooks/events returns 405`, async () => {
    const { write } = await owned();
    const answer = await app.request('/api/webhooks/events', { method, headers: write });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers.get('Allow'), 'GET, HEAD, OPTIONS');
  });
}

test('OPTIONS /api/webhooks/events lists the methods of that path', async () => {
  const { write } = await owned();
  const answer = await app.request('/api/webhooks/events', { method: 'OPTIONS', headers: write });
  assert.deepEqual([answer.status, answer.headers.get('Allow')], [204, 'GET, HEAD, OPTIONS']);
});
