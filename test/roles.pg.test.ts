import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { makeClient, makeSurvey } from './support/make/rows.ts';
import { testDatabase } from './support/probe/database.ts';
import { until } from './support/probe/until.ts';
import { addressIn, askback, secretKey, startService } from './support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = {
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  ASKBACK_PUBLIC_URL: 'https://ask.example',
  ASKBACK_WEBHOOK_ALLOW: '127.0.0.0/8',
  ASKBACK_WEBHOOK_HTTP: 'allow',
  PORT: '0',
};

async function start(role: string, over: Record<string, string> = {}) {
  const service = startService({ ...environment, ...over }, ['serve', '--role', role]);
  return { ...service, address: addressIn(await service.ready()) };
}

const statusOf = async (address: string, path: string) => (await fetch(address + path)).status;

test('a jobs process delivers and mails at once what a web process commits', async (t) => {
  const { id: orgId, write } = await makeClient(db);
  const survey = await makeSurvey(db, orgId);
  const arrived: number[] = [];
  const subscriber = createServer((request, response) => {
    request.resume().on('end', () => {
      arrived.push(performance.now());
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(subscriber, 'listening');
  t.after(() => subscriber.close());
  const { port } = subscriber.address() as AddressInfo;

  const web = await start('web');
  const { warnings } = (await (await fetch(`${web.address}/readyz`)).json()) as {
    warnings: Record<string, string>;
  };
  assert.match(warnings['jobs'] ?? '', /no process with the role jobs is running/);
  const jobs = await start('jobs');
  const post = (path: string, body: object) =>
    fetch(web.address + path, {
      method: 'POST',
      headers: { ...write, 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify(body),
    });
  const hook = { url: `http://127.0.0.1:${port}/`, events: ['response.received'] };
  assert.equal((await post('/api/webhooks', hook)).status, 201);

  const contacts = Array.from({ length: 8 }, (_, n) => ({ email: `p${n}@a.test` }));
  const sent = await post(`/api/v1/surveys/${survey}/send`, { contacts });
  assert.equal(sent.status, 200);
  const { data } = (await sent.json()) as { data: { results: { status: string }[] } };
  assert.deepEqual(
    data.results.map(({ status }) => status),
    contacts.map(() => 'sent'),
  );

  const tokens = await db<{ token: string }[]>`
    select token from contacts where survey_id = ${survey} order by email`;
  const waited: number[] = [];
  for (const { token } of tokens) {
    const before = arrived.length;
    const answered = await post(`/s/${token}`, { score: 9 });
    assert.ok(answered.ok, String(answered.status));
    const begun = performance.now();
    await until('the delivery arrives', () => arrived.length > before);
    waited.push(Math.round(arrived.at(-1)! - begun));
  }
  t.diagnostic(`deliveries ${waited} ms after the answer of the web process`);
  // Without the notification, each would wait for the next poll, which is every ten seconds.
  assert.ok(waited.every((ms) => ms < 5000));
  assert.equal(await web.stop(), 0);
  assert.equal(await jobs.stop(), 0);
});

test('a web process warns as soon as the last jobs process is killed', async () => {
  const [web, jobs] = [await start('web'), await start('jobs')];
  const warning = async () => {
    const { warnings = {} } = (await (await fetch(`${web.address}/readyz`)).json()) as {
      warnings?: Record<string, string>;
    };
    return warnings['jobs'];
  };
  await until('the jobs process counts', async () => (await warning()) === undefined);
  jobs.child.kill('SIGKILL');
  await jobs.exited;
  await until('it is missed', async () => (await warning()) !== undefined);
  const [row] = await db<{ count: number }[]>`select count(*)::int as count from worker_pools`;
  assert.ok(row!.count > 0, 'it left its rows');
  assert.equal(await web.stop(), 0);
});

test('a jobs process only serves its health', async () => {
  const jobs = await start('jobs');
  for (const path of ['/healthz', '/readyz']) assert.equal(await statusOf(jobs.address, path), 200);
  for (const path of ['/', '/api/v1/surveys', '/sign-in', '/s/x', '/mailbox'])
    assert.equal(await statusOf(jobs.address, path), 404);
  assert.equal(await jobs.stop(), 0);
});

test('a web process runs no job', async () => {
  const web = await start('web');
  const [{ running }] = (await db`
    select count(*)::int as running from pg_stat_activity
    where datname = current_database() and application_name like 'askback%jobs%'`) as unknown as [
    { running: number },
  ];
  assert.equal(running, 0);
  assert.equal(await web.stop(), 0);
});

test('a role with missing or unsuitable settings is refused with a reason', async () => {
  const alone = await askback(['serve', '--role', 'web'], {});
  assert.equal(alone.code, 2);
  assert.match(
    alone.stderr,
    / {2}DATABASE_URL: is required for the role web: the embedded Postgres/,
  );
  assert.match(alone.stderr, / {2}ASKBACK_PUBLIC_URL: is required for the role web/);
  const unknown = await askback(['serve', '--role', 'worker'], environment);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /--role must be web or jobs/);
  const inEnvironment = await askback(['check-config'], { ASKBACK_ROLE: 'all' });
  assert.equal(inEnvironment.code, 2);
  assert.match(inEnvironment.stderr, /ASKBACK_ROLE: must be web or jobs/);
});
