import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { apiDocument } from '../src/api.ts';
import { addDeliveries } from './support/make/delivery-rows.ts';
import {
  makeClient,
  makeContact,
  makeResponse,
  makeSurvey,
  makeWebhook,
} from './support/make/rows.ts';
import { testSettings } from './support/make/settings.ts';
import { testApp } from './support/probe/app.ts';
import { testDatabase } from './support/probe/database.ts';
import { dumpTables } from './support/probe/dump.ts';

const { db } = await testDatabase();
const app = testApp(db);

/** Every operation below /api, with its example body. */
const all = Object.entries(apiDocument(testSettings).paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(() => path.startsWith('/api/'))
    .map(([method, { requestBody }]) => {
      const content = requestBody?.content as Record<string, { example?: unknown }> | undefined;
      const body = content?.['application/json']?.example;
      return { method: method.toUpperCase(), path, body };
    }),
);
const operations = all.filter(({ path }) => path.includes('{id}'));

type Id = { id: string };
const idOf = async (row: PromiseLike<readonly Id[]>) => (await row)[0]!.id;

/** An organization with one of each resource, by its name in the API. */
async function makeAll() {
  const { id: org_id, read, write } = await makeClient(db, { ai_enabled: true });
  const survey_id = await makeSurvey(db, org_id);
  const of = { org_id, survey_id };
  const webhook_id = await makeWebhook(db, org_id);
  const [delivery] = await addDeliveries(db, { org_id, webhook_id, status: 'failed', attempts: 1 });
  const things = {
    surveys: survey_id,
    contacts: await makeContact(db, of),
    responses: await makeResponse(db, of, { held_reason: 'hidden_link' }),
    webhooks: webhook_id,
    tags: await idOf(
      db`insert into tags (org_id, name, color) values (${org_id}, 'vip', '#aabbcc') returning id`,
    ),
    campaigns: await idOf(db`
      insert into campaigns (org_id, survey_id, name, status) values (${org_id}, ${survey_id}, 'May', 'running')
      returning id`),
    suppressions: await idOf(db`
      insert into suppressions (org_id, email, kind) values (${org_id}, 'a@people.test', 'unsubscribed') returning id`),
    summaries: await idOf(db`
      insert into summaries (org_id, period_start, period_end, responses, text)
      values (${org_id}, '2026-01-01', '2026-02-01', 3, 'Fine.') returning id`),
    erasures: await idOf(db`
      insert into erasures (org_id, address_hash, scores, counts)
      values (${org_id}, ${Buffer.alloc(32, org_id)}, 'deleted', '{}') returning id`),
    segments: await idOf(db`
      insert into segments (org_id, name, filter) values (${org_id}, 'All', '{"all": []}') returning id`),
  };
  return { org_id, read, write, things, delivery: delivery! };
}

type Thing = keyof Awaited<ReturnType<typeof makeAll>>['things'];
const words: Record<Thing, string> = {
  surveys: 'survey',
  contacts: 'contact',
  responses: 'response',
  webhooks: 'webhook',
  tags: 'tag',
  campaigns: 'campaign',
  suppressions: 'suppression',
  summaries: 'summary',
  erasures: 'erasure',
  segments: 'segment',
};

const [own, other] = [await makeAll(), await makeAll()];
const before = await rowsOf(other.org_id);

async function rowsOf(orgId: string) {
  const tables = [...(await dumpTables(db))];
  return tables.flatMap(([table, text]) => {
    const rows = text.split('\n').filter((row) => row.includes(orgId));
    return rows.sort().map((row) => `${table} ${row}`);
  });
}

/** The member to whom the example of a change assigns a response. */
const [member] = await db<Id[]>`
  insert into members (email, name) values (${memberOfExample()}, 'Ann') returning id`;
await db`insert into memberships (org_id, member_id, role) values (${own.org_id}, ${member!.id}, 'editor')`;

function memberOfExample(): string {
  const bodies = operations.map(({ body }) => body as { owner?: string } | undefined);
  return bodies.find((body) => body?.owner)!.owner!;
}

function call(key: Record<string, string>, method: string, path: string, body: unknown) {
  const headers = { ...key, 'Content-Type': 'application/json' };
  return app.request(path, { method, headers, body: body ? JSON.stringify(body) : null });
}

const thingOf = (path: string) => /^\/api\/(?:v1\/)?(\w+)\/\{id\}/.exec(path)![1] as Thing;

test('every kind of resource has an operation with an id', () => {
  const kinds = operations.map(({ path }) => thingOf(path));
  assert.deepEqual([...new Set(kinds)].sort(), Object.keys(words).sort());
});

for (const { method, path, body } of operations) {
  test(`${method} ${path} does not find an unknown, invalid or foreign id`, async () => {
    const thing = thingOf(path);
    for (const id of [randomUUID(), 'x', other.things[thing]]) {
      await assertNotFound(
        path.replace('{id}', id).replace('{delivery_id}', other.delivery),
        words[thing],
      );
    }
    if (path.includes('{delivery_id}')) {
      for (const id of [randomUUID(), 'x', other.delivery]) {
        await assertNotFound(
          path.replace('{id}', own.things.webhooks).replace('{delivery_id}', id),
          'delivery',
        );
      }
    }
  });

  async function assertNotFound(place: string, word: string) {
    const answer = await call(own.write, method, place, body);
    const { error, code } = (await answer.json()) as { error: string; code: string };
    assert.deepEqual(
      { status: answer.status, error, code },
      { status: 404, error: `${word} not found`, code: 'not_found' },
    );
  }
}

test('requests with foreign ids change nothing in the other organization', async () => {
  assert.deepEqual(await rowsOf(other.org_id), before);
});

test('every change needs a write key', async () => {
  const rowsWithoutKeys = async () =>
    (await rowsOf(own.org_id)).filter((row) => !/^(api_keys|rate_windows) /.test(row));
  const stored = await rowsWithoutKeys();
  const changes = all.filter(({ method }) => method !== 'GET');
  assert.ok(changes.length > 30);
  for (const { method, path, body } of changes) {
    const [, thing = ''] = /(\w+)\/\{id\}/.exec(path) ?? [];
    const place = path
      .replace('{id}', own.things[thing as Thing] ?? '')
      .replace('{delivery_id}', own.delivery)
      .replace('{email}', 'a@people.test');
    const answer = await call(own.read, method, place, body);
    const { code } = (await answer.json()) as { code: string };
    assert.deepEqual([answer.status, code], [403, 'forbidden'], `${method} ${path}`);
  }
  assert.deepEqual(await rowsWithoutKeys(), stored);
});

test('a path beside an id returns 405 for the methods of the id', async () => {
  const { paths } = apiDocument(testSettings);
  const pairs = Object.keys(paths).flatMap((path) =>
    Object.keys(paths)
      .filter((template) => template === path.replace(/[^/]+$/, '{id}'))
      .map((template) => ({ path, template })),
  );
  const beside = pairs.filter(({ path, template }) => path !== template);
  assert.deepEqual(
    beside.map(({ path }) => path),
    ['/api/v1/contacts/export', '/api/v1/responses/export', '/api/webhooks/events'],
  );
  for (const { path, template } of beside) {
    for (const method of Object.keys(paths[template]!)) {
      if (method in paths[path]!) continue;
      const answer = await app.request(path, { method: method.toUpperCase(), headers: own.write });
      assert.equal(answer.status, 405, `${method} ${path}`);
      assert.equal(answer.headers.get('Allow'), 'GET, HEAD, OPTIONS');
    }
  }
});
