import assert from 'node:assert/strict';
import { test } from 'node:test';
import { one } from '../src/lib/db/db.ts';
import { startSlowServers } from './support/fakes/slow-servers.ts';
import { makeClient, makeSurvey } from './support/make/rows.ts';
import { testDatabase } from './support/probe/database.ts';
import { until } from './support/probe/until.ts';
import { nextVersion } from './support/processes/next-version.ts';
import { addressIn, askback, secretKey, startService } from './support/processes/program.ts';

const { db, url } = await testDatabase();
const world = await startSlowServers();
const environment = {
  DATABASE_URL: url,
  PORT: '0',
  ASKBACK_SECRET_KEY: secretKey,
  ASKBACK_SMTP_URL: world.smtpUrl,
  ASKBACK_WEBHOOK_HTTP: 'allow',
  ASKBACK_WEBHOOK_ALLOW: '127.0.0.0/8',
  ASKBACK_SEND_DEADLINE_SECONDS: '300',
};
const migration = {
  name: '9999_next.sql',
  text: 'alter table ended_deliveries add column next text',
};
const next = nextVersion(migration);

const people = Array.from({ length: 60 }, (_, i) => ({ email: `person${i}@people.test` }));
const answers = 240;
const answersAtOnce = 20;
const organization = await makeClient(db);
const share_id = 'share';
const survey = await makeSurvey(db, organization.id, { share_id });

async function post(address: string, path: string, body: object): Promise<Response> {
  const headers = { ...organization.write, Accept: 'application/json' };
  const json = { 'Content-Type': 'application/json' };
  return await fetch(address + path, {
    method: 'POST',
    headers: { ...headers, ...json },
    body: JSON.stringify(body),
  });
}

const answer = async (address: string) =>
  assert.equal((await post(address, `/f/${share_id}`, { score: 9 })).status, 201);

const waiting = async () =>
  one(
    await db<{ mails: number; deliveries: number; jobs: number }[]>`
      select (select count(*)::int from mails where status in ('claimed', 'sending')) as mails,
             (select count(*)::int from deliveries where status = 'pending') as deliveries,
             (select count(*)::int from graphile_worker.jobs
              where task_identifier in ('sends.mail', 'webhooks.deliver')) as jobs`,
  );

/** Each step continues where the previous one ended. */
test('an upgrade under a full queue loses nothing and sends nothing twice', async (t) => {
  const old = startService(environment);
  const oldAddress = addressIn(await old.ready());
  await t.test('a command of the new version does not migrate a database in use', async () => {
    const { code, stderr } = await next.askback(['org', 'list'], environment);
    assert.equal(code, 1);
    assert.match(stderr, /this database is older than this askback: run `askback migrate`/);
  });

  const hook = { url: world.webhookUrl, events: ['response.received'] };
  assert.equal((await post(oldAddress, '/api/webhooks', hook)).status, 201);
  const sending = post(oldAddress, `/api/v1/surveys/${survey}/send`, { contacts: people });
  await until('mails are claimed', async () => (await waiting()).mails > 0);
  for (let i = 0; i < answers; i += answersAtOnce) {
    await Promise.all(Array.from({ length: answersAtOnce }, () => answer(oldAddress)));
  }
  const fresh = next.startService(environment);
  const freshAddress = addressIn(await fresh.ready());

  await t.test('the new version is ready while the queue is still full', async () => {
    const { mails, deliveries } = await waiting();
    assert.ok(mails > 0 && deliveries > 0, `${mails} mails and ${deliveries} deliveries`);
    assert.equal((await fetch(`${freshAddress}/readyz`)).status, 200);
  });

  await t.test('the old version is not ready any more, but still answers', async () => {
    const response = await fetch(`${oldAddress}/readyz`);
    const { red } = (await response.json()) as { red: Record<string, string> };
    assert.deepEqual(
      [response.status, red],
      [503, { schema: `is newer: it has ${migration.name}` }],
    );
    await answer(oldAddress);
    await answer(freshAddress);
  });

  await t.test('both versions work on the queue, and the send is answered', async () => {
    world.hurry();
    const { data } = (await (await sending).json()) as { data: { sent: number } };
    assert.equal(data.sent, people.length);
    await until('nothing waits', async () => {
      const { mails, deliveries, jobs } = await waiting();
      return mails + deliveries + jobs === 0;
    });
  });

  await t.test('the old version stops gracefully and refuses to start again', async () => {
    assert.equal(await old.stop(), 0);
    const again = await askback(['serve'], environment);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /this database is newer than this program: .*9999_next\.sql/);
  });

  await t.test('every mail and every delivery arrived once', async () => {
    assert.deepEqual(world.mails.toSorted(), people.map(({ email }) => email).sort());
    const made = await db<{ id: string }[]>`select id from deliveries where status = 'delivered'`;
    assert.equal(made.length, answers + 2);
    assert.deepEqual(world.posts.toSorted(), made.map(({ id }) => id).sort());
    assert.equal(await fresh.stop(), 0);
  });
});
