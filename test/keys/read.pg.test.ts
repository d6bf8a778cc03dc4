import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { makeClient, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);

async function client() {
  const { id, read } = await makeClient(db);
  const of = { org_id: id, survey_id: await makeSurvey(db, id) };
  const get = (path: string, headers: Record<string, string> = {}) =>
    app.request(path, { headers: { ...read, ...headers } });
  return { of, read, get };
}

for (const path of ['/api/v1/responses', '/api/v1/nps', '/api/v1/surveys', '/api/v1/contacts']) {
  test(`${path} checks the key before its parameters`, async () => {
    const { get } = await client();
    assert.equal((await get(path)).status, 200);
    assert.equal((await app.request(`${path}?limit=x&survey_id=x&search=%00`)).status, 401);
    assert.equal((await get(`${path}?search=%00`)).status, 400);
  });
}

test('every read counts one request, even if refused', async () => {
  const { of, get } = await client();
  // A window in the future counts all requests, even when a minute ends.
  await db`
    insert into rate_windows (subject, minute, count)
    select 'key:' || id, now() + interval '1 hour', 0 from api_keys where org_id = ${of.org_id}`;
  const left = async (path: string) =>
    Number(/r=(\d+)/.exec((await get(path)).headers.get('RateLimit') ?? '')?.[1]);
  const before = await left('/api/v1/tags');
  await get('/api/v1/responses');
  await get('/api/v1/responses?search=%00');
  assert.equal(before - (await left('/api/v1/tags')), 3);
});

for (const path of ['/api/v1/responses', '/api/v1/nps', '/api/v1/me']) {
  test(`${path} answers 304 until it changes`, async () => {
    const { of, get } = await client();
    const first = await get(path);
    const tag = first.headers.get('ETag') ?? '';
    assert.match(tag, /^W\/"[\w-]{27}"$/);
    assert.equal(first.headers.get('Cache-Control'), 'private, no-cache');
    assert.match(first.headers.get('Vary') ?? '', /X-API-Key, Authorization/);
    for (const asked of [tag, `"other", ${tag.slice(2)}`, '*']) {
      const same = await get(path, { 'If-None-Match': asked });
      assert.equal(same.status, 304, asked);
      assert.equal(same.headers.get('ETag'), tag);
      assert.equal(await same.text(), '');
      assert.ok(same.headers.get('RateLimit'), 'it is counted like any other');
    }
    assert.equal((await get(path, { 'If-None-Match': 'W/"another"' })).status, 200);
    if (path.endsWith('/me')) return;
    await makeResponse(db, of);
    assert.equal((await get(path, { 'If-None-Match': tag })).status, 200);
  });
}

test('reads over 1 KiB are compressed on request', async () => {
  const { of, get } = await client();
  await makeResponse(db, of, { comment: 'größer '.repeat(300) });
  const plain = await get('/api/v1/responses');
  assert.equal(plain.headers.get('Content-Encoding'), null);
  const text = await plain.text();
  for (const accepted of ['gzip', 'br, gzip;q=0.5', '*']) {
    const small = await get('/api/v1/responses', { 'Accept-Encoding': accepted });
    assert.equal(small.headers.get('Content-Encoding'), 'gzip', accepted);
    assert.equal(small.headers.get('ETag'), plain.headers.get('ETag'));
    assert.equal(gunzipSync(await small.arrayBuffer()).toString(), text);
  }
  for (const accepted of ['identity', 'gzip;q=0', 'br']) {
    const whole = await get('/api/v1/responses', { 'Accept-Encoding': accepted });
    assert.equal(whole.headers.get('Content-Encoding'), null, accepted);
  }
  const short = await get('/api/v1/me', { 'Accept-Encoding': 'gzip' });
  assert.equal(short.headers.get('Content-Encoding'), null);
});

test('lists link to their next page with the filters', async () => {
  const { of, get } = await client();
  for (const comment of ['"next_cursor":"x"', 'second', 'third'])
    await makeResponse(db, of, { comment });
  const seen: string[] = [];
  let next: string | null = '/api/v1/responses?limit=2&page=1&category=promoter';
  while (next) {
    const answer: Response = await get(next);
    const { data } = (await answer.json()) as { data: { id: string }[] };
    seen.push(...data.map(({ id }) => id));
    const link = answer.headers.get('Link');
    next = /^<([^>]+)>; rel="next"$/.exec(link ?? '')?.[1] ?? null;
    if (next) assert.match(next, /^\/api\/v1\/responses\?limit=2&category=promoter&cursor=/);
  }
  assert.equal(new Set(seen).size, 3);
});
