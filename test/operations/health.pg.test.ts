import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import type { Db } from '../../src/lib/db/db.ts';
import type { Checks } from '../../src/lib/process/lifecycle.ts';
import { databaseChecks, healthRoutes, startReadiness } from '../../src/operations/health.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db, url } = await testDatabase();

type Readiness = {
  status: string;
  error?: string;
  failing?: Record<string, string>;
  red?: Record<string, string>;
};

async function readiness(checks: Checks) {
  const answer = await healthRoutes(checks).request('/readyz');
  return { code: answer.status, ...((await answer.json()) as Readiness) };
}

/** A database that fails the test on any query. */
const untouchable = new Proxy((() => {}) as unknown as Db, {
  get: (_, name) => assert.fail(`the database was asked for ${String(name)}`),
  apply: () => assert.fail('the database was asked'),
});

test('/healthz runs no checks', async () => {
  const checks = { all: () => assert.fail('a check was made') };
  const answer = await bareApp(untouchable, { checks }).request('/healthz');
  assert.deepEqual([answer.status, await answer.json()], [200, { status: 'ok' }]);
});

test('/readyz names exactly the failing checks', async () => {
  const checks = {
    database: () => 'cannot be reached',
    schema: () => undefined,
    runners: async () => 'not running: mail',
    odd: () => Promise.reject(new Error('postgres://user:secret@host')),
  };
  const failing = {
    database: 'cannot be reached',
    runners: 'not running: mail',
    odd: 'could not be checked',
  };
  assert.deepEqual(await readiness(checks), {
    code: 503,
    status: 'not ready',
    error: 'not ready: cannot be reached; not running: mail; could not be checked',
    failing,
    red: failing,
  });
  assert.deepEqual(await readiness({ schema: () => undefined }), { code: 200, status: 'ready' });
});

/** `/readyz` of a process whose job runner cannot start, as on a full disk. */
async function readyWithoutRunner(role: 'jobs' | null) {
  const { checks, warnings } = await startReadiness({
    parts: {
      async start(_: string, begin: () => Db) {
        const connection = begin();
        after(() => connection.end());
        return connection;
      },
    } as never,
    database: { db, sessions: { url }, isApart: false } as never,
    role,
    secrets: createSecrets([Buffer.alloc(32, 1)]),
    jobs: { state: () => ({ state: 'restarting', restarts: 1 }) } as never,
  });
  const answer = await healthRoutes(checks, warnings).request('/readyz');
  const { failing, warnings: warned } = (await answer.json()) as {
    failing?: Record<string, string>;
    warnings?: Record<string, string>;
  };
  return { code: answer.status, failing: failing?.['runners'], warned: warned?.['runners'] };
}

test('/readyz warns of a job runner that is down while requests work', async () => {
  const sentence =
    'the job runner of this process is not running: emails, deliveries and analyses wait';
  assert.deepEqual(await readyWithoutRunner(null), {
    code: 200,
    failing: undefined,
    warned: sentence,
  });
  assert.deepEqual(await readyWithoutRunner('jobs'), {
    code: 503,
    failing: sentence,
    warned: undefined,
  });
});

test('/readyz names migrations that are missing or unknown', async () => {
  assert.deepEqual(await readiness(databaseChecks(db)), { code: 200, status: 'ready' });
  const [taken] = await db<{ name: string }[]>`
    delete from schema_migrations
    where name = (select max(name) from schema_migrations)
    returning name`;
  const behind = await readiness(databaseChecks(db));
  assert.deepEqual(behind.red, { schema: `lacks ${taken!.name}` });
  await db`insert into schema_migrations (name, sha256) values ('9999_next.sql', '')`;
  assert.deepEqual((await readiness(databaseChecks(db))).red, { schema: `lacks ${taken!.name}` });
  await db`insert into schema_migrations (name, sha256) values (${taken!.name}, '')`;
  const ahead = await readiness(databaseChecks(db));
  assert.deepEqual(ahead.red, { schema: 'is newer: it has 9999_next.sql' });
});
