import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { emit } from '../../src/webhooks/emit.ts';
import { makeWebhook } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { makeCaller } from '../support/probe/caller.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);
const caller = () => makeCaller(db, app);

const wish = { url: 'https://hooks.example.com/in', events: ['response.received'] };
const secretForm = /^whsec_[A-Za-z0-9+/]{43}=$/;

test('only creation returns the secret', async () => {
  const { id: org_id, call } = await caller();

  const { status, body } = await call('POST', '', { body: { ...wish, org_id } });

  assert.equal(status, 201);
  const { secret, id, created_at, updated_at, ...rest } = body;
  assert.match(String(secret), secretForm);
  assert.deepEqual(rest, {
    org_id,
    ...wish,
    retries: 'standard',
    active: true,
    failure_count: 0,
    description: null,
    deactivated_at: null,
    deactivated_reason: null,
    last_delivery_at: null,
  });
  const later = [await call('GET', `/${id}`), await call('GET', ''), await call('PUT', `/${id}`)];
  for (const answer of later) assert.ok(!JSON.stringify(answer).includes('whsec_'));
});

test('the secret is stored encrypted', async () => {
  const { call } = await caller();
  const { body } = await call('POST', '', { body: wish });
  const [row] = await db<{ secret: Buffer }[]>`
    select secret from webhooks where id = ${String(body['id'])}`;
  assert.ok(!row!.secret.includes(String(body['secret']).slice('whsec_'.length)));
});

test('org_id is optional and must be the organization of the key', async () => {
  const [mine, theirs] = [await caller(), await caller()];
  assert.equal((await mine.call('POST', '', { body: wish })).body['org_id'], mine.id);

  const stolen = await mine.call('POST', '', { body: { ...wish, org_id: theirs.id } });
  assert.equal(stolen.status, 403);
  assert.deepEqual((await theirs.call('GET', '')).body, { webhooks: [] });
});

const refused: [why: string, change: Record<string, unknown>][] = [
  ['no url', { url: undefined }],
  ['a url that is no text', { url: 7 }],
  ['an invalid url', { url: 'hooks' }],
  ['plain http', { url: 'http://hooks.example.com/' }],
  ['another scheme', { url: 'ftp://hooks.example.com/' }],
  ['this machine', { url: 'https://localhost/' }],
  ['a loopback address', { url: 'https://127.0.0.1/' }],
  ['a private address', { url: 'https://10.1.2.3/' }],
  ['a user in the url', { url: 'https://ann:pw@hooks.example.com/' }],
  ['a url of 2001 characters', { url: `https://h.example.com/${'x'.repeat(1979)}` }],
  ['no events', { events: undefined }],
  ['an empty list of events', { events: [] }],
  ['an event that there is not', { events: ['response.received', 'response.lost'] }],
  ['the test event', { events: ['webhook.test'] }],
  ['one event not in a list', { events: 'response.received' }],
  ['a description of 501 characters', { description: 'x'.repeat(501) }],
  ['a description of two lines', { description: 'one\ntwo' }],
  ['a description with a control character', { description: 'red \u001b[31m' }],
  ['a description with a C1 control character', { description: 'a\u009bb' }],
  ['a description that is no text', { description: 5 }],
  ['an org_id that is no text', { org_id: 5 }],
];
for (const [why, change] of refused) {
  test(`rejects ${why} on creation`, async () => {
    const { call } = await caller();
    const { status, body } = await call('POST', '', { body: { ...wish, ...change } });
    assert.equal(status, 400, JSON.stringify(body));
    assert.deepEqual((await call('GET', '')).body, { webhooks: [] });
  });
}

test('duplicate events are subscribed once', async () => {
  const { call } = await caller();
  const events = ['survey.completed', 'response.received', 'survey.completed'];
  const { body } = await call('POST', '', { body: { ...wish, events } });
  assert.deepEqual(body['events'], ['survey.completed', 'response.received']);
});

test('accepts unresolvable hosts and texts of maximum length', async () => {
  const { call } = await caller();
  const url = `https://${randomUUID()}.invalid/`;
  const description = 'ä'.repeat(500);
  const { status, body } = await call('POST', '', {
    body: { ...wish, url: url.padEnd(2000, 'x'), description },
  });
  assert.equal(status, 201);
  assert.equal(body['description'], description);
});

test('limits an organization to 50 webhooks under concurrency', async () => {
  const { id, call } = await caller();
  for (let made = 0; made < 45; made++) await makeWebhook(db, id);

  const answers = await Promise.all(
    Array.from({ length: 12 }, () => call('POST', '', { body: wish })),
  );

  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 201).length, 5);
  const over = answers.filter(({ status }) => status !== 201);
  assert.deepEqual(
    [...new Set(over.map(({ status, body }) => `${status} ${body['code']}`))],
    ['400 too_many_webhooks'],
  );
  assert.equal(((await call('GET', '')).body['webhooks'] as unknown[]).length, 50);
});

const changes: [field: string, value: unknown][] = [
  ['url', 'https://elsewhere.example.com/'],
  ['events', ['detractor.detected', 'summary.generated']],
  ['description', 'the new one'],
  ['description', null],
  ['active', false],
];
for (const [field, value] of changes) {
  test(`changes only ${field} to ${JSON.stringify(value)}`, async () => {
    const { call } = await caller();
    const { body } = await call('POST', '', { body: { ...wish, description: 'the old one' } });
    const { secret: _, ...before } = body;

    const { status, body: after } = await call('PUT', `/${body['id']}`, {
      body: { [field]: value },
    });

    assert.equal(status, 200);
    const { updated_at, deactivated_at, deactivated_reason, ...rest } = after;
    assert.notEqual(updated_at, before['updated_at']);
    assert.deepEqual(
      { ...rest, updated_at, deactivated_at, deactivated_reason },
      { ...before, [field]: value, updated_at, deactivated_at, deactivated_reason },
    );
    assert.equal(deactivated_reason, field === 'active' ? 'turned off manually' : null);
    assert.equal(deactivated_at === null, field !== 'active');
    assert.deepEqual((await call('GET', `/${body['id']}`)).body, after);
  });
}

test('turning on resets the failure count and the reason', async () => {
  const { id, call } = await caller();
  const webhook = await makeWebhook(db, id, {
    active: false,
    failure_count: 3,
    deactivated_at: new Date(),
    deactivated_reason: '3 deliveries in a row failed',
  });
  const { body } = await call('PUT', `/${webhook}`, { body: { active: true } });
  const { active, failure_count, deactivated_at, deactivated_reason } = body;
  assert.deepEqual(
    { active, failure_count, deactivated_at, deactivated_reason },
    { active: true, failure_count: 0, deactivated_at: null, deactivated_reason: null },
  );
});

test('retries can be set on creation and changed later', async () => {
  const { call } = await caller();
  const made = await call('POST', '', { body: { ...wish, retries: 'extended' } });
  assert.equal(made.body['retries'], 'extended');
  const path = `/${made.body['id']}`;
  assert.equal((await call('PUT', path, { body: { url: wish.url } })).body['retries'], 'extended');
  const changed = await call('PUT', path, { body: { retries: 'standard' } });
  assert.equal(changed.body['retries'], 'standard');

  for (const retries of ['none', null, 7]) {
    assert.equal((await call('PUT', path, { body: { retries } })).status, 400);
    assert.equal((await call('POST', '', { body: { ...wish, retries } })).status, 400);
  }
  assert.equal((await call('GET', path)).body['retries'], 'standard');
});

test('turning off a deactivated webhook keeps the reason', async () => {
  const { id, call } = await caller();
  const off = { active: false, deactivated_at: new Date(), deactivated_reason: '3 failed' };
  const webhook = await makeWebhook(db, id, off);
  const { body } = await call('PUT', `/${webhook}`, { body: { active: false } });
  assert.equal(body['deactivated_reason'], '3 failed');
});

for (const change of [{ url: 'https://127.0.0.1/' }, { events: [] }, { active: 'yes' }]) {
  test(`rejects the change ${JSON.stringify(change)}`, async () => {
    const { call } = await caller();
    const { body } = await call('POST', '', { body: wish });
    const { secret: _, ...before } = body;
    const both = { description: 'new', ...change };
    assert.equal((await call('PUT', `/${body['id']}`, { body: both })).status, 400);
    assert.deepEqual((await call('GET', `/${body['id']}`)).body, before);
  });
}

test('deleting a webhook deletes its deliveries and attempts', async () => {
  const { id, call } = await caller();
  const { body: created } = await call('POST', '', {
    body: { ...wish, events: ['survey.completed'] },
  });
  const webhook = String(created['id']);
  const test = await call('POST', `/${webhook}/test`);
  await emit(db, { orgId: id, events: [{ type: 'survey.completed', body: '{}' }] });

  assert.equal((await db`select from deliveries where webhook_id = ${webhook}`).length, 2);

  assert.equal((await call('DELETE', `/${webhook}`)).status, 204);

  const left = await db`select id from deliveries where webhook_id = ${webhook}`;
  const attempts = await db`
    select from delivery_attempts where delivery_id = ${String(test.body['delivery_id'])}`;
  assert.deepEqual([left.length, attempts.length], [0, 0]);
  assert.equal((await call('GET', `/${webhook}`)).status, 404);
  assert.equal((await call('DELETE', `/${webhook}`)).status, 404);
});

test('the audit log lists the fields that changed', async () => {
  const { id: org, call } = await caller();
  const given = {
    ...wish,
    description: 'CRM',
    events: ['survey.completed', 'response.received'],
  };
  const { body } = await call('POST', '', { body: given });
  const path = `/${body['id']}`;
  const changed = async () =>
    (
      await db<{ details: { changes: object } }[]>`
        select details from audit_events where org_id = ${org} and act = 'webhook.changed' order by at`
    ).map(({ details }) => Object.keys(details.changes));

  const same = await call('PUT', path, { body: { ...given, active: true } });
  assert.deepEqual([same.status, same.body['updated_at']], [200, body['updated_at']]);
  assert.deepEqual(await changed(), []);

  const turned = { ...given, events: [...given.events].reverse() };
  assert.equal((await call('PUT', path, { body: turned })).body['updated_at'], body['updated_at']);

  await call('PUT', path, { body: { ...given, description: 'ERP', active: true } });
  await call('PUT', path, { body: { ...given, description: 'ERP', active: false } });
  assert.deepEqual(await changed(), [['description'], ['active']]);
});
