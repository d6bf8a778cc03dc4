import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import { makeOrganization, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { askback, secretKey } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey };
const run = (...words: string[]) => askback(['webhook', ...words], environment);

async function skipped(webhook_id: string, org_id: string, created_at: Date) {
  await addDeliveries(db, { org_id, webhook_id, created_at, status: 'skipped' });
}

test("webhook list shows an organization's webhooks and no secret", async () => {
  const org = await makeOrganization(db);
  const id = await makeWebhook(db, org, { active: false, failure_count: 3 });
  await makeWebhook(db, await makeOrganization(db));

  const [plain, json] = [
    await run('list', '--org', org),
    await run('list', '--org', org, '--json'),
  ];

  const [titles, row, ...others] = plain.stdout.trimEnd().split('\n');
  assert.match(titles!, /^id +state +failures +url +events$/);
  assert.match(row!, new RegExp(`^${id} +inactive +3 +https://hooks.test/ +response.received,`));
  assert.equal(others.length, 0);
  const [listed] = JSON.parse(json.stdout);
  assert.equal(listed.id, id);
  assert.ok(!('secret' in listed));
});

test('webhook replay delivers again what was missed since a time', async () => {
  const org = await makeOrganization(db);
  const id = await makeWebhook(db, org);
  await skipped(id, org, new Date('2026-01-01T00:00:00Z'));
  await skipped(id, org, new Date('2026-01-03T00:00:00Z'));
  const words = ['replay', '--id', id, '--since', '2026-01-02'];

  const { code, stdout, stderr } = await run(...words, '--json');

  assert.deepEqual([code, JSON.parse(stdout)], [0, { replayed: 1 }]);
  const waits = 'the service does not run on this database: the deliveries wait for it\n';
  assert.equal(stderr, waits);
  const again = await run(...words, '--json');
  assert.deepEqual([JSON.parse(again.stdout), again.stderr], [{ replayed: 0 }, '']);
  const jobs = await db`select from test.jobs where payload ->> 'webhook_id' = ${id}`;
  const due = await db`select from deliveries where webhook_id = ${id} and status = 'pending'`;
  assert.deepEqual([jobs.length, due.length], [1, 1]);
});

test("webhook replay of another organization's webhook, or of an inactive one, is 1", async () => {
  const org = await makeOrganization(db);
  const id = await makeWebhook(db, org, { active: false });
  const since = ['--since', '2026-01-01'];
  const stranger = await run('replay', '--org', randomUUID(), '--id', id, ...since);
  const unknown = await run('replay', '--id', randomUUID(), ...since);
  const inactive = await run('replay', '--org', org, '--id', id, ...since);
  for (const { code, stderr } of [stranger, unknown]) {
    assert.deepEqual([code, stderr], [1, 'askback: webhook not found\n']);
  }
  assert.equal(inactive.code, 1);
  assert.match(inactive.stderr, /switched off: switch it on first/);
});

const accepting = {
  ...environment,
  ASKBACK_WEBHOOK_ALLOW: '127.0.0.1/32',
  ASKBACK_WEBHOOK_HTTP: 'allow',
};

test('webhook create makes a webhook whose test event verifies with the secret it shows', async (t) => {
  const org = await makeOrganization(db);
  const posts: { headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer(async (request, response) => {
    posts.push({ headers: request.headers, body: await text(request) });
    response.end('fine');
  });
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const wish = ['--org', org, '--url', url, '--events', 'response.received,survey.completed'];

  const created = await askback(['webhook', 'create', ...wish, '--json'], accepting);
  const { id, secret, events } = JSON.parse(created.stdout);
  const tested = await askback(['webhook', 'test', '--id', id, '--json'], accepting);

  assert.deepEqual(events, ['response.received', 'survey.completed']);
  const { delivered, status_code, response_body } = JSON.parse(tested.stdout);
  assert.deepEqual(
    { delivered, status_code, response_body },
    { delivered: true, status_code: 200, response_body: 'fine' },
  );
  new Webhook(secret).verify(posts[0]!.body, posts[0]!.headers as Record<string, string>);
});

const refusals: [why: string, change: string[], complaint: RegExp][] = [
  ['an event that there is not', ['--events', 'response.lost'], /events.*must be among/],
  ['an address of this machine', ['--url', 'https://127.0.0.1/'], /must not lead to this machine/],
  ['a description of two lines', ['--description', 'a\nb'], /one line/],
  ['a description of 501 characters', ['--description', 'x'.repeat(501)], /500/],
  ['an organization that there is not', ['--org', randomUUID()], /organization not found/],
];
for (const [why, change, complaint] of refusals) {
  test(`webhook create refuses ${why}`, async () => {
    const org = await makeOrganization(db);
    const wish = {
      '--org': org,
      '--url': 'https://hooks.example.com/',
      '--events': 'survey.completed',
    };
    const words = Object.entries({ ...wish, [change[0]!]: change[1]! }).flat();
    const { code, stderr } = await run('create', ...words);
    assert.notEqual(code, 0);
    assert.match(stderr, complaint);
    assert.equal((await db`select from webhooks where org_id = ${org}`).length, 0);
  });
}

test('webhook create takes extended retries, and standard ones unless it is said', async () => {
  const org = await makeOrganization(db);
  const words = [
    'create',
    '--org',
    org,
    '--url',
    'https://8.8.8.8/',
    '--events',
    'survey.completed',
  ];
  const [plain, extended, other] = [
    await run(...words, '--description', 'x'.repeat(500), '--json'),
    await run(...words, '--retries', 'extended', '--json'),
    await run(...words, '--retries', 'often'),
  ];
  assert.equal(JSON.parse(plain.stdout).retries, 'standard');
  assert.equal(JSON.parse(plain.stdout).description, 'x'.repeat(500));
  assert.equal(JSON.parse(extended.stdout).retries, 'extended');
  assert.notEqual(other.code, 0);
  assert.match(other.stderr, /retries.*must be standard or extended/);
});

test("webhook test of another organization's webhook is 1 and posts nothing", async () => {
  const id = await makeWebhook(db, await makeOrganization(db));
  const { code, stderr } = await run('test', '--org', randomUUID(), '--id', id);
  assert.deepEqual([code, stderr], [1, 'askback: webhook not found\n']);
});
