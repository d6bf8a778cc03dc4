import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { makeOrganization, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { askback, secretKey } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey };
const run = (...words: string[]) => askback(['webhook', ...words], environment);

async function skipped(webhook_id: string, org_id: string, created_at: Date) {
  const id = randomUUID();
  const event = { event: 'survey.completed', body: '{}', status: 'skipped' };
  await db`insert into deliveries ${db({ id, message_id: id, org_id, webhook_id, created_at, ...event })}`;
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
  const words = ['replay', '--org', org, '--id', id, '--since', '2026-01-02'];

  const { code, stdout } = await run(...words, '--json');

  assert.deepEqual([code, JSON.parse(stdout)], [0, { replayed: 1 }]);
  const jobs = await db`select from outbox where payload ->> 'webhook_id' = ${id}`;
  const due = await db`select from deliveries where webhook_id = ${id} and status = 'pending'`;
  assert.deepEqual([jobs.length, due.length], [1, 1]);
});

test("webhook replay of another organization's webhook, or of an inactive one, is 1", async () => {
  const org = await makeOrganization(db);
  const id = await makeWebhook(db, org, { active: false });
  const since = ['--since', '2026-01-01'];
  const stranger = await run('replay', '--org', randomUUID(), '--id', id, ...since);
  const inactive = await run('replay', '--org', org, '--id', id, ...since);
  assert.deepEqual([stranger.code, stranger.stderr], [1, 'askback: webhook not found\n']);
  assert.equal(inactive.code, 1);
  assert.match(inactive.stderr, /switched off: switch it on first/);
});
