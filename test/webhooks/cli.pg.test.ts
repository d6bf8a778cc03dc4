import assert from 'node:assert/strict';
import { test } from 'node:test';
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

test('webhook list shows webhooks without secrets', async () => {
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

test('webhook replay replays missed deliveries since a time', async () => {
  const org = await makeOrganization(db);
  const id = await makeWebhook(db, org);
  await skipped(id, org, new Date('2026-01-01T00:00:00Z'));
  await skipped(id, org, new Date('2026-01-03T00:00:00Z'));
  const words = ['replay', '--id', id, '--since', '2026-01-02'];

  const { code, stdout, stderr } = await run(...words, '--json');

  assert.deepEqual([code, JSON.parse(stdout)], [0, { replayed: 1 }]);
  const waits = 'the service is not running on this database: the deliveries wait for it\n';
  assert.equal(stderr, waits);
  const again = await run(...words, '--json');
  assert.deepEqual([JSON.parse(again.stdout), again.stderr], [{ replayed: 0 }, '']);
  const jobs = await db`select from test.jobs where payload ->> 'webhook_id' = ${id}`;
  const due = await db`select from deliveries where webhook_id = ${id} and status = 'pending'`;
  assert.deepEqual([jobs.length, due.length], [1, 1]);
});
