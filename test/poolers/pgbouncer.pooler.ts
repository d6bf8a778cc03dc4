import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../src/lib/db/db.ts';
import { findPooler } from '../../src/lib/db/pooler.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { emptyDatabase, testDatabase } from '../support/probe/database.ts';
import { throughPooler } from '../support/probe/pooler.ts';
import { addressIn, askback, secretKey, startService } from '../support/processes/program.ts';

const { db, url: direct } = await testDatabase();
const pooled = throughPooler(direct);
if (!pooled) throw new Error('run it by: bash ops/ci/with-pgbouncer make test-poolers');
const named = (name: string) => new URL(`/${name}`, pooled).href;
/** Whether this one carries prepared statements: `ops/ci/with-pgbouncer` sets it by the version. */
const prepares = process.env['TEST_POOLER_PREPARES'] === 'yes';
const environment = { ASKBACK_SECRET_KEY: secretKey, PORT: '0' };

test('a pooler is found by what it cannot hide, and its mode with it', async () => {
  assert.deepEqual(await findPooler(direct), { mode: 'none', prepares: true });
  assert.deepEqual(await findPooler(pooled), { mode: 'transaction', prepares });
  assert.deepEqual(await findPooler(named('by_session')), { mode: 'session', prepares: true });
  assert.equal((await findPooler(named('by_statement'))).mode, 'statement');
});

test('a busy pooler is found as well', async () => {
  const others = connect(pooled, { connections: 6, prepare: false });
  let busy = true;
  const work = Array.from({ length: 6 }, async () => {
    while (busy) await others.begin((tx) => tx`select pg_sleep(0.002)`);
  });
  for (let round = 0; round < 5; round++) {
    assert.equal((await findPooler(pooled)).mode, 'transaction');
  }
  busy = false;
  await Promise.all(work);
  await others.end();
});

for (const command of ['serve', 'migrate', 'org list']) {
  test(`${command} refuses an address where sessions are needed and not to be had`, async () => {
    const { code, stderr } = await askback(command.split(' '), {
      ...environment,
      DATABASE_URL: pooled,
    });
    assert.equal(code, 1);
    assert.match(stderr, /DATABASE_URL leads through a pooler in transaction mode/);
    assert.match(stderr, /goes to ASKBACK_SESSION_DATABASE_URL: set it to an address/);
  });
}

const both = { ...environment, DATABASE_URL: pooled, ASKBACK_SESSION_DATABASE_URL: direct };

test('what cannot be the way of sessions, or of requests, is refused by name', async () => {
  const other = await emptyDatabase();
  for (const [over, sentence] of [
    [
      { ASKBACK_SESSION_DATABASE_URL: pooled },
      /ASKBACK_SESSION_DATABASE_URL leads through a pooler in transaction mode/,
    ],
    [
      { ASKBACK_SESSION_DATABASE_URL: other.url },
      /ASKBACK_SESSION_DATABASE_URL leads to another database than DATABASE_URL/,
    ],
    [
      {
        DATABASE_URL: named('by_statement'),
        ASKBACK_SESSION_DATABASE_URL: new URL('/postgres', direct).href,
      },
      /DATABASE_URL leads through a pooler in statement mode, which has no transactions/,
    ],
  ] as const) {
    const { code, stderr } = await askback(['serve'], { ...both, ...over });
    assert.equal(code, 1, stderr);
    assert.match(stderr, sentence);
  }
});

test('doctor says what is between the service and its database', async () => {
  const { stdout } = await askback(['doctor'], both);
  assert.match(stdout, /pooler .*through a pooler in transaction mode/);
  assert.equal(/it does not carry prepared statements/.test(stdout), !prepares);
  const missing = await askback(['doctor'], { ...environment, DATABASE_URL: pooled });
  assert.match(missing.stdout, /ASKBACK_SESSION_DATABASE_URL: set it/);
});

test('surveys, sends and answers go through it, in all roles', async () => {
  const { id: orgId, read, write } = await makeClient(db);
  const survey = await makeSurvey(db, orgId);
  const over = { ...both, ASKBACK_PUBLIC_URL: 'https://ask.example' };
  const web = startService(over, ['serve', '--role', 'web']);
  const address = addressIn(await web.ready());
  const jobs = startService(over, ['serve', '--role', 'jobs']);
  await jobs.ready();
  const post = (path: string, body: object) =>
    fetch(address + path, {
      method: 'POST',
      headers: { ...write, 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify(body),
    });
  const contacts = Array.from({ length: 50 }, (_, at) => ({ email: `c${at}@a.test` }));
  const sent = await post(`/api/v1/surveys/${survey}/send`, { contacts });
  const { data } = (await sent.json()) as { data: { results: { status: string }[] } };
  assert.ok(data.results.every(({ status }) => status === 'sent'));
  const tokens = await db<{ token: string }[]>`
    select token from contacts where survey_id = ${survey}`;
  const answers = tokens.map(({ token }) => post(`/s/${token}`, { score: 9 }));
  assert.ok((await Promise.all(answers)).every(({ ok }) => ok));
  const nps = await fetch(`${address}/api/v1/nps`, { headers: read });
  assert.equal(((await nps.json()) as { data: { promoters: number } }).data.promoters, 50);
  assert.equal((await fetch(`${address}/readyz`)).status, 200);
  assert.equal(await web.stop(), 0);
  assert.equal(await jobs.stop(), 0);
});
