import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../src/lib/db/db.ts';
import { createPoolSlots, shareFairly } from '../../src/lib/db/fair-pool.ts';
import { makeClient, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';
import { until } from '../support/probe/until.ts';

const { db: pool, url } = await testDatabase();
const connections = 8;

test('hanging searches leave room for other organizations', async () => {
  const slots = createPoolSlots(connections);
  const app = bareApp(shareFairly(pool, slots));
  const [many, other] = [await makeClient(pool), await makeClient(pool)];
  const locker = await pool.reserve();
  await locker`begin`;
  await locker`lock table responses in access exclusive mode`;

  const callers = new AbortController();
  const crowd = Array.from({ length: 50 }, () =>
    app.request('/api/v1/responses?search=a', { headers: many.read, signal: callers.signal }),
  );
  const hanging = async () =>
    (await locker`select from pg_locks where relation = 'responses'::regclass and not granted`)
      .length;
  await until('a search hangs', async () => (await hanging()) === 1);

  const answer = await Promise.race([
    app.request('/api/v1/surveys', { headers: other.read }),
    Promise.race(crowd).then(() => assert.fail('it waits for the neighbour')),
  ]);
  assert.equal(answer.status, 200);

  callers.abort();
  const statuses = await Promise.all(crowd.map(async (each) => (await each).status));
  assert.deepEqual([...new Set(statuses)], [400]);
  assert.equal(await hanging(), 0);
  await locker`rollback`;
  locker.release();
  assert.equal(slots.counts().held, 0);
});

test('links and keys are looked up fast while other reads hang', async (t) => {
  const small = connect(url, { connections });
  t.after(() => small.end({ timeout: 0 }));
  const slots = createPoolSlots(connections);
  const app = bareApp(shareFairly(small, slots));
  const clients = await Promise.all(Array.from({ length: 8 }, () => makeClient(pool)));
  const locker = await pool.reserve();
  await locker`begin`;
  await locker`lock table tags in access exclusive mode`;
  const crowd = clients.flatMap(({ read }) =>
    Array.from({ length: 4 }, () => app.request('/api/v1/tags', { headers: read })),
  );
  const hanging = async () =>
    (await locker`select from pg_locks where relation = 'tags'::regclass and not granted`).length;
  await until('they have all that they get', async () => (await hanging()) === connections - 3);

  const key = { 'X-API-Key': 'unknown' };
  const lookups = Array.from({ length: 10 }, () => [
    app.request('/s/none'),
    app.request('/f/none'),
    app.request('/api/v1/surveys', { method: 'POST', headers: key, body: '{}' }),
  ]).flat();
  const statuses = await Promise.all(lookups.map(async (each) => (await each).status));
  assert.deepEqual([...new Set(statuses)], [404, 401]);
  assert.equal(await hanging(), connections - 3);
  await locker`rollback`;
  locker.release();
  for (const each of crowd) assert.equal((await each).status, 200);
});

test('a search over ten seconds is refused and frees its connection', async (t) => {
  const [{ read }, locker] = [await makeClient(pool), await pool.reserve()];
  const limits: number[] = [];
  const tooLong = new AbortController();
  t.mock.method(AbortSignal, 'timeout', (ms: number) => {
    limits.push(ms);
    return tooLong.signal;
  });
  await locker`begin`;
  await locker`lock table responses in access exclusive mode`;
  const waits = async () =>
    (await locker`select from pg_locks where relation = 'responses'::regclass and not granted`)
      .length;

  const asked = bareApp(pool).request('/api/v1/responses?search=a', { headers: read });
  await until('the search waits', async () => (await waits()) === 1);
  tooLong.abort();
  const answer = await asked;
  assert.deepEqual([answer.status, limits], [422, [10_000]]);
  const { error, code } = (await answer.json()) as { error: string; code: string };
  assert.equal(code, 'search_too_slow');
  assert.match(error, /longer than 10 seconds: search for more letters/);
  assert.equal(await waits(), 0);
  await locker`rollback`;
  locker.release();
});

test('screens have the time limit of API searches', async (t) => {
  const { id: org } = await makeClient(pool);
  const response = await makeResponse(pool, {
    org_id: org,
    survey_id: await makeSurvey(pool, org),
  });
  const { home, get } = await memberBrowser(pool, { app: bareApp(pool), org });
  const limits: number[] = [];
  t.mock.method(AbortSignal, 'timeout', (ms: number) => {
    limits.push(ms);
    return AbortSignal.abort(new Error('too long'));
  });
  for (const path of ['responses', `responses/${response}`]) {
    assert.equal((await get(`${home}/${path}`)).status, 200);
    const answer = await get(`${home}/${path}?search=a`);
    assert.equal(answer.status, 422);
    assert.match(await answer.text(), /This search takes too long/);
  }
  assert.deepEqual(limits, [10_000, 10_000]);
});
