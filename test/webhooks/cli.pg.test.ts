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

test("webhook test of another organization's webhook is 1 and posts nothing", async () => {
  const id = await makeWebhook(db, await makeOrganization(db));
  const { code, stderr } = await run('test', '--org', randomUUID(), '--id', id);
  assert.deepEqual([code, stderr], [1, 'askback: webhook not found\n']);
});
