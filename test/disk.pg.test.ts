import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db } from '../src/lib/db/db.ts';
import { addDeliveries } from './support/make/delivery-rows.ts';
import { makeClient, makeContact, makeSurvey, makeWebhook } from './support/make/rows.ts';
import { testApp } from './support/probe/app.ts';
import { testDatabase } from './support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);
const repeats = 30;
/** Size of an audit event, which every act leaves; ops/limits.md describes how long they are kept. */
const eventBytes = 600;

async function scene() {
  const client = await makeClient(db, { frequency_days: 30 });
  const surveyId = await makeSurvey(db, client.id);
  const token = `t${crypto.randomUUID().replaceAll('-', '')}`;
  const contact = { org_id: client.id, survey_id: surveyId };
  await makeContact(db, contact, { token });
  await db`
    insert into suppressions (org_id, email, kind)
    values (${client.id}, 'gone@people.test', 'unsubscribed')`;
  const webhookId = await makeWebhook(db, client.id);
  const skipped = { org_id: client.id, webhook_id: webhookId, status: 'skipped' };
  await addDeliveries(db, ...Array.from({ length: 20 }, () => skipped));
  return { ...client, surveyId, token, webhookId };
}

type Scene = Awaited<ReturnType<typeof scene>>;
const post = (path: string, headers: Record<string, string>, body: object) =>
  app.request(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const everyone = { contacts: [{ email: 'gone@people.test' }, { email: 'not an address' }] };

/** Repeated acts of a key, with the tables in which a repeat may leave rows. */
const acts: { name: string; leaves: readonly string[]; act: (of: Scene) => unknown }[] = [
  {
    name: 'a send to an address that a rule blocks',
    leaves: ['audit_events'],
    act: ({ surveyId, write }) => post(`/api/v1/surveys/${surveyId}/send`, write, everyone),
  },
  {
    name: 'a dry run with a new key each time',
    leaves: [],
    act: ({ surveyId, write }) => {
      const headers = { ...write, 'Idempotency-Key': crypto.randomUUID() };
      return post(`/api/v1/surveys/${surveyId}/send?dry_run=true`, headers, everyone);
    },
  },
  {
    name: 'a replay of replayed deliveries',
    leaves: [],
    act: ({ webhookId, write }) =>
      post(`/api/webhooks/${webhookId}/replay`, write, { since: '2020-01-01T00:00:00Z' }),
  },
  {
    name: 'a list',
    leaves: [],
    act: ({ read }) => app.request('/api/v1/responses', { headers: read }),
  },
  {
    name: 'a request with an unknown key',
    leaves: [],
    act: () => app.request('/api/v1/nps', { headers: { 'X-API-Key': 'ask_live_unknown' } }),
  },
];

for (const { name, leaves, act } of acts) {
  test(`repeating ${name} only adds rows to ${leaves.join(' and ') || 'no table'}`, async () => {
    const of = await scene();
    await act(of);
    const before = await bytesByTable(db);
    for (let n = 0; n < repeats; n += 1) await act(of);
    const after = await bytesByTable(db);
    const grown = [...after].filter(([table, bytes]) => bytes > (before.get(table) ?? 0));
    assert.deepEqual(grown.map(([table]) => table).sort(), [...leaves].sort());
    for (const [table, bytes] of grown) {
      const each = (bytes - (before.get(table) ?? 0)) / repeats;
      assert.ok(each <= eventBytes, `${table} grows by ${each} bytes each time`);
    }
  });
}

test('opening a link stores at most sixty visits a minute', async () => {
  const { token } = await scene();
  for (let n = 0; n < 100; n += 1) await app.request(`/s/${token}`);
  const visits = await db`
    select from link_visits v join contacts c on c.id = v.contact_id where c.token = ${token}`;
  assert.equal(visits.length, 60);
});

/** Size of live rows, without dead ones that Postgres has not removed yet. */
async function bytesByTable(sql: Db): Promise<Map<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' order by tablename`;
  const sizes = new Map<string, number>();
  for (const { name } of tables) {
    const [row] = await sql<{ bytes: number }[]>`
      select coalesce(sum(pg_column_size(t.*)), 0)::int as bytes from ${sql(name)} t`;
    sizes.set(name, row!.bytes);
  }
  return sizes;
}
