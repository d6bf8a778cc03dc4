import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issueKey } from '../../src/keys/manage.ts';
import { connect, type Sql } from '../../src/lib/db/db.ts';
import { makeClient, makeOrganization } from '../support/make/rows.ts';
import { testSettings } from '../support/make/settings.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';

const { db, url } = await testDatabase();
const settings = { ...testSettings, rateLimit: 100 };
const app = testApp(db, { settings });
const anywhere = '/api/v1/no-such-path';

test('every path under /api answers 401 without a key', async () => {
  for (const path of ['/api', '/api/v1', anywhere, '/api/v1/surveys', '/api/webhooks']) {
    const answer = await app.request(path);
    assert.equal(answer.status, 401, path);
    const { error, code } = (await answer.json()) as Record<string, unknown>;
    assert.match(
      String(error),
      /^the API key is missing, unknown, revoked or expired: send one as Authorization: Bearer KEY/,
    );
    assert.equal(code, 'unauthorized');
  }
});

test('Authorization: Bearer works too, and X-API-Key takes precedence', async () => {
  const { read } = await makeClient(db);
  const key = read['X-API-Key'];
  assert.equal((await call({ Authorization: `Bearer ${key}` })).status, 404);
  assert.equal((await call({ Authorization: `bearer  ${key} ` })).status, 404);
  for (const Authorization of [key, `Basic ${key}`, `Bearer ${key} more`, 'Bearer', 'Bearer x']) {
    assert.equal((await call({ Authorization })).status, 401, Authorization);
  }
  const both = { 'X-API-Key': 'x', Authorization: `Bearer ${key}` };
  assert.equal((await call(both)).status, 401);
});

test('an unknown key returns 401, well-formed or not', async () => {
  const { read } = await makeClient(db);
  const other = await issueKey(db, await makeOrganization(db), { name: 'gone' });
  await db`delete from api_keys where id = ${other.id}`;
  for (const key of ['x', other.key, `${read['X-API-Key']} `.replace('ask', 'ASK')]) {
    assert.equal((await call({ 'X-API-Key': key })).status, 401);
  }
});

test('a revoked key is refused with the next request', async () => {
  const { id, read } = await makeClient(db);
  assert.equal((await call(read)).status, 404);
  await db`update api_keys set revoked_at = now() where org_id = ${id}`;
  assert.equal((await call(read)).status, 401);
});

test('an expired key is refused with the next request', async () => {
  const { id, read } = await makeClient(db);
  await db`update api_keys set expires_at = now() + interval '1 hour' where org_id = ${id}`;
  assert.equal((await call(read)).status, 404);
  await db`update api_keys set expires_at = now() where org_id = ${id}`;
  assert.equal((await call(read)).status, 401);
});

test('every response has rate-limit headers', async () => {
  const { id, read } = await makeClient(db);
  await holdWindows(db, id, 56);

  const first = await call(read);
  const second = await call(read);

  assert.equal(first.headers.get('RateLimit-Policy'), '"default";q=100;w=60');
  assert.match(first.headers.get('RateLimit') ?? '', /^"default";r=43;t=\d+$/);
  assert.match(second.headers.get('RateLimit') ?? '', /^"default";r=42;t=\d+$/);
});

test('a request over the limit returns 429 with Retry-After', async () => {
  const { id, read } = await makeClient(db);
  await holdWindows(db, id, 99);

  assert.equal((await call(read)).status, 404);
  const refused = await call(read);

  assert.equal(refused.status, 429);
  const { error, code } = (await refused.json()) as Record<string, unknown>;
  assert.equal(error, 'rate limit exceeded: max 100 requests per minute');
  assert.equal(code, 'rate_limited');
  assert.match(refused.headers.get('RateLimit') ?? '', /^"default";r=0;t=/);
  assert.match(refused.headers.get('Retry-After') ?? '', /^\d+$/);
});

test('two processes accept exactly 100 of 130 concurrent requests', async () => {
  const { id, read } = await makeClient(db);
  await holdWindows(db, id, 0);
  const [other, watcher] = [connect(url, { connections: 8 }), connect(url, { connections: 1 })];
  const apps = [app, testApp(other, { settings })];

  let answers: Promise<Response>[] = [];
  await db.begin(async (tx) => {
    await tx`select from rate_windows where subject like 'key:%' for update`;
    answers = Array.from({ length: 130 }, async (_, at) =>
      apps[at % 2]!.request(anywhere, { headers: read }),
    );
    await untilLockWaits(watcher);
  });
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  await Promise.all([other.end(), watcher.end()]);

  assert.equal(statuses.filter((status) => status === 404).length, 100);
  assert.equal(statuses.filter((status) => status === 429).length, 30);
});

test('a client address gets 60 requests a minute without a key', async () => {
  const from = '203.0.113.9';
  await holdWindow(db, `unknown:${from}`, 58);

  const allowed = await callFrom(from, {});
  assert.equal(allowed.status, 401);
  assert.equal(
    allowed.headers.get('RateLimit-Policy'),
    '"default";q=100;w=60, "address";q=60;w=60',
  );
  assert.match(allowed.headers.get('RateLimit') ?? '', /^"address";r=1;t=/);
  assert.equal((await callFrom(from, { 'X-API-Key': 'x' })).status, 401);

  const refused = await callFrom(from, { 'X-API-Key': 'x' });
  assert.equal(refused.status, 429);
  assert.match(((await refused.json()) as { error: string }).error, /max 60 requests per minute/);
});

test('a working key passes from an address that guessed too often', async () => {
  const { read } = await makeClient(db);
  await holdWindow(db, 'unknown:203.0.113.10', 1000);
  assert.equal((await callFrom('203.0.113.10', read)).status, 404);
});

test('addresses of one IPv6 network count as one', async () => {
  await holdWindow(db, 'unknown:2001:db8:1:2::/64', 60);
  assert.equal((await callFrom('2001:db8:1:2:3:4:5:6', {})).status, 429);
  assert.equal((await callFrom('2001:db8:1:3::1', {})).status, 401);
});

test('a forged header does not change the client address', async () => {
  await holdWindow(db, 'unknown:203.0.113.11', 60);
  const claim = { 'X-Forwarded-For': '198.51.100.1', Forwarded: 'for=198.51.100.1' };
  assert.equal((await callFrom('203.0.113.11', claim)).status, 429);
});

test('a read passes uncounted when the disk is full', async () => {
  const { id, read } = await makeClient(db);
  await db`
    create function no_room() returns trigger language plpgsql as
      $$ begin raise 'could not extend file' using errcode = 'disk_full'; end $$`;
  await db`create trigger full_disk before insert on rate_windows execute function no_room()`;
  await db`create trigger full_disk before update on api_keys execute function no_room()`;
  try {
    const answer = await app.request('/api/v1/surveys', { headers: read });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('RateLimit'), '"default";r=100;t=60');
    assert.equal((await call({ 'X-API-Key': 'x' })).status, 401);
    await db`drop trigger full_disk on rate_windows`;
    assert.equal((await call(read)).status, 404);
  } finally {
    await db`drop function no_room cascade`;
  }
  assert.equal(
    (await db`select last_used_at from api_keys where org_id = ${id} and last_used_at is not null`)
      .length,
    0,
  );
});

const call = async (headers: Record<string, string>) => app.request(anywhere, { headers });

const callFrom = async (remoteAddress: string, headers: Record<string, string>) =>
  app.request(anywhere, { headers }, { incoming: { socket: { remoteAddress } } });

/** Sets the count of a window that outlasts the test, so that no new minute starts. */
async function holdWindow(sql: Sql, subject: string, count: number) {
  await sql`
    insert into rate_windows values (${subject}, now() + interval '1 hour', ${count})
    on conflict (subject) do update set minute = excluded.minute, count = excluded.count`;
}

async function holdWindows(sql: Sql, org: string, count: number) {
  const keys = await sql<{ id: string }[]>`select id from api_keys where org_id = ${org}`;
  for (const { id } of keys) await holdWindow(sql, `key:${id}`, count);
}
