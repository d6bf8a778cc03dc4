import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { clusterOf } from '../../../src/lib/embedded-postgres/cluster.ts';
import { attachEmbedded } from '../../../src/lib/embedded-postgres/embedded.ts';
import { findServer } from '../../../src/lib/embedded-postgres/server.ts';
import { until } from '../../support/probe/until.ts';
import {
  ask,
  dataFolder,
  end,
  hold,
  optionsFor,
  postmasterPid,
  serveFrom,
} from '../../support/processes/embedded.ts';

const serverIn = (dataDir: string) => findServer(clusterOf({ path: dataDir }));

test('an embedded Postgres 18 starts from nothing and stops completely', async (t) => {
  const dataDir = dataFolder(t);
  const embedded = await serveFrom(dataDir);
  assert.equal(await ask(embedded.url, "current_setting('server_version_num')::int / 10000"), 18);
  await embedded.stop();
  assert.equal(serverIn(dataDir), undefined);
  assert.equal(existsSync(join(dataDir, 'cluster/postmaster.pid')), false);
});

test('an embedded Postgres keeps its data for the next start', async (t) => {
  const dataDir = dataFolder(t);
  const first = await serveFrom(dataDir);
  await ask(first.url, "set_config('a.b', 'c', false) from pg_create_restore_point('x')").catch(
    () => {},
  );
  const before = await ask(first.url, '(select system_identifier::text from pg_control_system())');
  await first.stop();
  const second = await serveFrom(dataDir);
  assert.equal(
    await ask(second.url, '(select system_identifier::text from pg_control_system())'),
    before,
  );
});

test('an embedded Postgres accepts both drivers and no network', async (t) => {
  const embedded = await serveFrom(dataFolder(t));
  const client = new pg.Client(embedded.url);
  await client.connect();
  assert.deepEqual((await client.query('show listen_addresses')).rows, [{ listen_addresses: '' }]);
  await client.end();
  assert.equal(await ask(embedded.url, 'current_database()'), 'askback');
  const folder = new URL(embedded.url).searchParams.get('host')!;
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});

test("an embedded Postgres follows the operator's own settings", async (t) => {
  const dataDir = dataFolder(t);
  await (await serveFrom(dataDir)).stop();
  writeFileSync(join(dataDir, 'postgresql.conf'), "work_mem = '3MB'\n");
  const embedded = await serveFrom(dataDir);
  assert.equal(await ask(embedded.url, "current_setting('work_mem')"), '3MB');
});

test('a data folder whose path is too long for a socket works', async (t) => {
  const embedded = await serveFrom(dataFolder(t, 'long'.repeat(40)));
  assert.equal(await ask(embedded.url, '1'), 1);
  assert.match(decodeURIComponent(embedded.url), /host=\/tmp\/askback-[0-9a-f]{16}$/);
});

test('a server outlives its killed process and is adopted by the next', async (t) => {
  const dataDir = dataFolder(t);
  const holder = await hold(t, dataDir);
  const pid = postmasterPid(dataDir);
  await end(holder, 'SIGKILL');

  const embedded = await serveFrom(dataDir);
  assert.equal(postmasterPid(dataDir), pid);
  assert.equal(await ask(embedded.url, '1'), 1);
  await embedded.stop();
  await until('the server is gone', async () => serverIn(dataDir) === undefined);
});

test('a server starts again after it and its process were killed', async (t) => {
  const dataDir = dataFolder(t);
  const holder = await hold(t, dataDir);
  const pid = postmasterPid(dataDir);
  await end(holder, 'SIGKILL');
  process.kill(pid, 'SIGKILL');
  await until('the server is gone', async () => serverIn(dataDir) === undefined);

  const embedded = await serveFrom(dataDir);
  assert.notEqual(postmasterPid(dataDir), pid);
  assert.equal(await ask(embedded.url, '1'), 1);
});

test('a second serving process on the same folder is rejected', async (t) => {
  const dataDir = dataFolder(t);
  const first = await hold(t, dataDir);
  assert.match(first.said, /^ready /);
  const second = await hold(t, dataDir);
  assert.match(second.said, /^refused another process already serves from .*: stop it/);
});

test('a command uses the running server and leaves it running', async (t) => {
  const dataDir = dataFolder(t);
  const holder = await hold(t, dataDir);
  const command = await attachEmbedded(optionsFor(dataDir));
  assert.equal(await ask(command.url, '1'), 1);
  await command.stop();
  assert.equal(await ask(holder.said.split(' ')[1]!, '1'), 1);
});

test('a command at work keeps the server when the serving process stops', async (t) => {
  const dataDir = dataFolder(t);
  const holder = await hold(t, dataDir);
  const command = await attachEmbedded(optionsFor(dataDir));
  await end(holder, 'SIGTERM');
  assert.equal(await ask(command.url, '1'), 1);
  await command.stop();
  assert.equal(serverIn(dataDir), undefined);
});

test('the exit is reported to the process that serves when the server dies', async (t) => {
  const dataDir = dataFolder(t);
  const holder = await hold(t, dataDir);
  process.kill(postmasterPid(dataDir), 'SIGKILL');
  assert.match(await holder.next(), /^exit the embedded Postgres has ended: see .*postgres\.log$/);
});

test('a server runs from an installed Postgres in place of the embedded one', async (t) => {
  const installed = dataFolder(t, 'installed');
  await (await serveFrom(installed)).stop();
  const postgresDir = join(installed, 'postgres-18.4.0-beta.17');
  const dataDir = dataFolder(t);
  const embedded = await serveFrom(dataDir, { postgresDir });
  assert.equal(await ask(embedded.url, '1'), 1);
  assert.equal(serverIn(dataDir)?.executable, `${postgresDir}/bin/postgres`);
  assert.equal(existsSync(join(dataDir, 'postgres-18.4.0-beta.17')), false);
  await embedded.stop();
  const nowhere = serveFrom(dataDir, { postgresDir: dataDir });
  await assert.rejects(nowhere, { message: /ASKBACK_POSTGRES_DIR: .* has no bin\/postgres/ });
});

test('a process that exits without stopping its server leaves none behind', async (t) => {
  const dataDir = dataFolder(t);
  const holder = await hold(t, dataDir);
  await end(holder, 'SIGUSR2');
  await until('the server is gone', async () => serverIn(dataDir) === undefined);
});
