import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClient, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

/** Reads check their key in the statement that answers them: they must refuse what other requests are refused. */
const { db } = await testDatabase();
const app = testApp(db);
const mine = await makeClient(db);
const theirs = await makeClient(db);
const survey = await makeSurvey(db, mine.id);
const response = await makeResponse(db, { org_id: mine.id, survey_id: survey });

const reads = [
  '/api/v1/surveys',
  `/api/v1/surveys/${survey}`,
  '/api/v1/responses',
  `/api/v1/responses/${response}`,
  '/api/v1/nps',
  '/api/v1/contacts',
  '/api/v1/tags',
  '/api/v1/summaries',
  '/api/v1/suppressions',
];

const status = async (path: string, headers: Record<string, string>) =>
  (await app.request(path, { headers })).status;

/** What is left of the key's minute. */
const left = async (headers: Record<string, string>) => {
  const answer = await app.request('/api/v1/tags', { headers });
  return Number(/r=(\d+)/.exec(answer.headers.get('RateLimit') ?? '')?.[1]);
};

for (const path of reads) {
  const name = path.replace(/[0-9a-f-]{36}/, ':id');

  test(`GET ${name} needs a key before it looks at its parameters`, async () => {
    assert.equal(await status(path, mine.read), 200);
    assert.equal(await status(`${path}?limit=x&survey_id=x&search=%00`, {}), 401);
    assert.equal(await status(`${path}?search=%00`, mine.read), 400);
  });

  test(`GET ${name} counts one request, also of a refused one`, async () => {
    const before = await left(mine.write);
    await status(path, mine.write);
    await status(`${path}?search=%00`, mine.write);
    assert.equal(before - (await left(mine.write)), 3);
  });
}

test('a read finds nothing of another organization', async () => {
  for (const path of [`/api/v1/surveys/${survey}`, `/api/v1/responses/${response}`]) {
    assert.equal(await status(path, theirs.read), 404);
    assert.equal(await status(`${path}0`, mine.read), 404);
  }
  const answer = await app.request('/api/v1/responses', { headers: theirs.read });
  assert.deepEqual(((await answer.json()) as { data: object[] }).data, []);
});

test('a read with a revoked key is refused at once', async () => {
  const { id, read } = await makeClient(db);
  assert.equal(await status('/api/v1/nps', read), 200);
  await db`update api_keys set revoked_at = now() where org_id = ${id}`;
  assert.equal(await status('/api/v1/nps', read), 401);
});

test('a read over the limit is refused, whether one statement answers it or two', async () => {
  const { id, read } = await makeClient(db);
  assert.equal(await status('/api/v1/nps', read), 200);
  await db`
    update rate_windows set count = 1000000
    where subject in (select 'key:' || k.id from api_keys k where k.org_id = ${id})`;
  assert.equal(await status('/api/v1/nps', read), 429);
  assert.equal(await status('/api/v1/responses?search=a', read), 429);
});

for (const path of ['/api/v1/nps', '/api/v1/responses?search=a']) {
  test(`the last read of ${path} that the limit allows is answered, and no other`, async () => {
    const { id, read } = await makeClient(db);
    const more = await left(read);
    // A window of the next minute counts on, whenever this minute ends.
    await db`
      update rate_windows
      set count = count + ${more - 1}, minute = minute + interval '1 minute'
      where subject in (select 'key:' || k.id from api_keys k where k.org_id = ${id})`;
    assert.deepEqual([await status(path, read), await status(path, read)], [200, 429]);
  });
}

test('one query finds for each organization what is its own, again and again', async () => {
  const other = await makeResponse(db, {
    org_id: theirs.id,
    survey_id: await makeSurvey(db, theirs.id),
  });
  for (const path of ['/api/v1/responses', '/api/v1/responses?limit=5&category=promoter']) {
    for (const _ of [1, 2]) {
      assert.deepEqual(await reader(app, mine.read).ids(path), [response]);
      assert.deepEqual(await reader(app, theirs.read).ids(path), [other]);
    }
  }
});

test('each query of a list is answered by itself, in whatever order they come', async () => {
  const { list, status: asked } = reader(app, mine.read);
  const second = await makeResponse(db, { org_id: mine.id, survey_id: survey });
  for (const _ of [1, 2]) {
    assert.deepEqual((await list('/api/v1/responses?limit=1')).meta.limit, 1);
    assert.deepEqual((await list('/api/v1/responses?limit=2&odd=1')).meta.ignored, ['odd']);
    assert.deepEqual((await list('/api/v1/responses?limit=1&page=2')).data[0]?.id, response);
    assert.deepEqual((await list('/api/v1/responses')).data.length, 2);
    assert.equal(await asked('/api/v1/responses?limit=x'), 400);
  }
  assert.deepEqual((await list('/api/v1/responses?limit=1')).data[0]?.id, second);
});
