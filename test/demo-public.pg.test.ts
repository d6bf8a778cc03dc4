import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demoOrganization } from '../src/demo/fill.ts';
import { makeOrganization } from './support/make/rows.ts';
import { testDatabase } from './support/probe/database.ts';
import { addressIn, askback, secretKey, startService } from './support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey, PORT: '0' };
const serveDemo = (DATABASE_URL = url) =>
  startService({ ...environment, DATABASE_URL }, ['demo', '--public']);

test('a public demo lets visitors in as viewers and refuses every write', async () => {
  const service = serveDemo();
  const address = addressIn(await service.ready());
  const page = await (await fetch(`${address}/sign-in`)).text();
  assert.match(page, /action="\/demo"[\s\S]*Explore the demo/);

  const signedIn = await fetch(`${address}/demo`, { method: 'POST', redirect: 'manual' });
  const [Cookie = ''] = (signedIn.headers.get('Set-Cookie') ?? '').split(';');
  const headers = { Cookie, Accept: 'text/html' };
  const home = await fetch(`${address}/`, { headers });
  assert.ok(home.url.endsWith('/o/larkspur-coffee'));
  assert.match(await home.text(), /Visitor/);

  const [{ share_id }] = await db<[{ share_id: string }]>`select share_id from surveys limit 1`;
  for (const path of ['/o/larkspur-coffee/surveys', `/f/${share_id}`, '/sign-in', '/forgot']) {
    const refused = await fetch(`${address}${path}`, { method: 'POST', headers });
    assert.equal(refused.status, 403, path);
    assert.match(await refused.text(), /This is a public demo/);
  }
  const api = await fetch(`${address}/api/v1/surveys`, { method: 'POST' });
  assert.equal(api.status, 403);
  assert.match(((await api.json()) as { error: string }).error, /This is a public demo/);
  assert.equal(await service.stop(), 0);
});

test('a public demo is filled again at each start', async () => {
  await db`delete from responses where org_id = ${demoOrganization}`;
  const service = serveDemo();
  await service.ready();
  const [{ responses, owners }] = await db<[{ responses: number; owners: number }]>`
    select count(*)::int as responses, count(owner_id)::int as owners
    from responses where org_id = ${demoOrganization}`;
  assert.ok(responses > 900 && owners > 50, `${responses} responses, ${owners} with an owner`);
  assert.equal(await service.stop(), 0);
});

test('a public demo refuses a database with other organizations', async () => {
  const { db: other, url: DATABASE_URL } = await testDatabase();
  await makeOrganization(other);
  const { code, stderr } = await askback(['demo', '--public'], { ...environment, DATABASE_URL });
  assert.equal(code, 1);
  assert.match(stderr, /needs its own database/);
  const [count] = await other`select count(*)::int as organizations from organizations`;
  assert.deepEqual({ ...count }, { organizations: 1 });
});
