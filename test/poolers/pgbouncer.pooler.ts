import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { emptyDatabase, testDatabase } from '../support/probe/database.ts';
import { throughPooler } from '../support/probe/pooler.ts';
import { addressIn, askback, secretKey, startService } from '../support/processes/program.ts';

const { db, url: direct } = await testDatabase();
const pooled = throughPooler(direct);
if (!pooled) throw new Error('run it by: bash ops/ci/with-pgbouncer make test-poolers');
/** Set by `ops/ci/with-pgbouncer` if this PgBouncer supports prepared statements. */
const prepares = process.env['TEST_POOLER_PREPARES'] === 'yes';
const environment = { ASKBACK_SECRET_KEY: secretKey, PORT: '0' };

const both = {
  ...environment,
  DATABASE_URL: pooled,
  ASKBACK_SESSION_DATABASE_URL: direct,
  ASKBACK_PREPARED: prepares ? 'on' : 'off',
};

test('serve refuses a session address of another database', async () => {
  const other = await emptyDatabase();
  const over = { ...both, ASKBACK_SESSION_DATABASE_URL: other.url };
  const { code, stderr } = await askback(['serve'], over);
  assert.equal(code, 1, stderr);
  assert.match(stderr, /ASKBACK_SESSION_DATABASE_URL must be the same database as DATABASE_URL/);
});

test('doctor checks the addresses for requests and for sessions', async () => {
  const { stdout } = await askback(['doctor'], both);
  assert.match(stdout, /pooler .*are the same database/);
});

test('surveys, sends and answers work through PgBouncer in all roles', async () => {
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
