import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOrganization } from '../support/make/rows.ts';
import { joinOrganization, makeMember, signIn } from '../support/make/session.ts';
import { testSettings } from '../support/make/settings.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = bareApp(db);

test('GET / redirects visitors to sign in and members home', async () => {
  const visitor = await app.request('/', { headers: { Accept: 'text/html' } });
  assert.deepEqual([visitor.status, visitor.headers.get('Location')], [303, '/sign-in']);

  const org = await makeOrganization(db, { name: 'Beta', slug: 'beta' });
  const first = await makeOrganization(db, { name: 'alpha', slug: 'alpha' });
  const member = await makeMember(db);
  for (const id of [org, first]) await joinOrganization(db, { org: id, member, role: 'viewer' });
  const cookie = await signIn(db, { member });
  const answer = await app.request('/', { headers: cookie });
  assert.deepEqual([answer.status, answer.headers.get('Location')], [303, '/o/alpha']);
});

test('GET / redirects members without an organization', async () => {
  for (const [operator, path] of [
    [true, '/operator'],
    [false, '/account'],
  ] as const) {
    const answer = await app.request('/', { headers: await signIn(db, { operator }) });
    assert.equal(answer.headers.get('Location'), path);
  }
});

test('GET /.well-known/change-password redirects to the account', async () => {
  const answer = await app.request('/.well-known/change-password');
  assert.deepEqual([answer.status, answer.headers.get('Location')], [303, '/account']);
});

test('GET / returns the documentation URLs as JSON', async () => {
  const answer = await app.request('/', { headers: { Accept: 'application/json' } });
  const { docs } = (await answer.json()) as { docs: string };
  assert.equal(docs, 'https://askback.test/docs');
});

test('GET /robots.txt only allows the front page, for a day', async () => {
  const answer = await app.request('/robots.txt');
  assert.equal(await answer.text(), 'User-agent: *\nAllow: /$\nDisallow: /\n');
  assert.equal(answer.headers.get('Cache-Control'), 'public, max-age=86400');
});

test('GET /favicon.ico is a valid icon, cached for a day', async () => {
  const answer = await app.request('/favicon.ico');
  const bytes = Buffer.from(await answer.arrayBuffer());
  assert.equal(answer.headers.get('Content-Type'), 'image/x-icon');
  assert.equal(answer.headers.get('Cache-Control'), 'public, max-age=86400');
  assert.equal(bytes.readUInt32LE(14) + bytes.readUInt32LE(18), bytes.length);
});

test('GET /docs/ redirects to /docs', async () => {
  const answer = await app.request('/docs/');
  assert.deepEqual([answer.status, answer.headers.get('Location')], [308, '/docs']);
});

test('GET /.well-known/security.txt needs a configured contact', async () => {
  assert.equal((await app.request('/.well-known/security.txt')).status, 404);
  const settings = { ...testSettings, securityContact: 'mailto:security@acme.test' };
  const answer = await bareApp(db, { settings }).request('/.well-known/security.txt');
  const text = await answer.text();
  assert.match(text, /^Contact: mailto:security@acme\.test$/m);
  const [, expires = ''] = /^Expires: (.*)$/m.exec(text) ?? [];
  const days = (Date.parse(expires) - Date.now()) / 86_400_000;
  assert.ok(days > 29.9 && days <= 30, expires);
});
