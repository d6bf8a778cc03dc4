import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { one } from '../src/lib/db/db.ts';
import { migrate, readMigrations } from '../src/lib/db/migrate.ts';
import { proxyTo } from './support/fakes/database-proxy.ts';
import { makeClient } from './support/make/rows.ts';
import { makeMember } from './support/make/session.ts';
import { emptyDatabase, testDatabase } from './support/probe/database.ts';
import { untilLockWaits } from './support/probe/locks.ts';
import { until } from './support/probe/until.ts';
import { freePort } from './support/processes/free-port.ts';
import { addressIn, askback, secretKey, startService } from './support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = (over: Record<string, string> = {}) => ({
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  PORT: '0',
  ...over,
});

test('the ready line has the real address, which commands use too', async () => {
  const service = startService(environment());

  const line = await service.ready();

  assert.match(line, /^askback listening on http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  assert.equal((await fetch(`${addressIn(line)}/healthz`)).status, 200);
  const ready = (await (await fetch(`${addressIn(line)}/readyz`)).json()) as { status: string };
  assert.equal(ready.status, 'ready');
  assert.equal(
    (await db`select public_url from service_record`)[0]?.['public_url'],
    addressIn(line),
  );
  assert.equal(await service.stop(), 0);
});

test('serve --json prints one JSON value when it is ready', async () => {
  const service = startService(environment(), ['--json']);
  const { listening, welcome_url } = JSON.parse(await service.ready());
  assert.equal((await fetch(`${listening}/healthz`)).status, 200);
  assert.equal((await fetch(welcome_url)).status, 200);
  assert.equal(await service.stop(), 0);
});

test('serve prints a welcome link while there is no account', async () => {
  const { db: fresh, url: own } = await testDatabase();
  const service = startService(environment({ DATABASE_URL: own }));
  const address = addressIn(await service.ready());
  const line = await service.stderr.next(/\/welcome\//);
  const [link = ''] = /http\S+$/.exec(line) ?? [];
  assert.ok(link.startsWith(`${address}/welcome/`));
  assert.equal((await fetch(link)).status, 200);
  await service.stop();

  await makeMember(fresh);
  const again = startService(environment({ DATABASE_URL: own }), ['--json']);
  assert.deepEqual(Object.keys(JSON.parse(await again.ready())), ['listening']);
  await again.stop();
});

test('serve prints an IPv6 address in brackets', async () => {
  const public_url = 'https://feedback.example.com';
  const service = startService(environment({ HOST: '::1', ASKBACK_PUBLIC_URL: `${public_url}/` }));

  assert.match(await service.ready(), / http:\/\/\[::1\]:\d+$/);

  assert.equal((await db`select public_url from service_record`)[0]?.['public_url'], public_url);
  assert.equal(await service.stop(), 0);
});

test('SIGTERM lets a request in flight finish and exits with 0', async () => {
  const client = await makeClient(db);
  const service = startService(environment());
  const address = addressIn(await service.ready());
  let answered: Promise<Response> | undefined;

  await db.begin(async (tx) => {
    await tx`lock table rate_windows in access exclusive mode`;
    answered = fetch(`${address}/api/v1/nothing`, { headers: client.read });
    await untilLockWaits(db);
    service.child.kill('SIGTERM');
    await service.stderr.next(/stopping on SIGTERM/);
    await assert.rejects(fetch(`${address}/healthz`));
    assert.equal(service.child.exitCode, null);
  });

  assert.equal((await answered)?.status, 404);
  assert.equal(await service.exited, 0);
});

test('a second signal ends the service without waiting for requests', async () => {
  const client = await makeClient(db);
  const service = startService(environment());
  const address = addressIn(await service.ready());

  await db.begin(async (tx) => {
    await tx`lock table rate_windows in access exclusive mode`;
    const cutOff = assert.rejects(fetch(`${address}/api/v1/nothing`, { headers: client.read }));
    await untilLockWaits(db);
    service.child.kill('SIGINT');
    await service.stderr.next(/stopping on SIGINT/);
    await until('it ends', () => service.child.exitCode !== null || !service.child.kill('SIGTERM'));
    assert.equal(await service.exited, 1);
    await cutOff;
  });
});

test('serve warns when it cannot write the erasures file', async () => {
  const file = '/nowhere/erasures.jsonl';
  const service = startService(environment({ ASKBACK_ERASURES_FILE: file, LOG_LEVEL: 'fatal' }));
  assert.match(
    await service.stderr.next(/^warning: /),
    new RegExp(`^warning: ASKBACK_ERASURES_FILE: cannot write .*${file}`),
  );
  assert.equal(await service.stop(), 0);
});

test('serve refuses a port in use before it touches the database', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { db: untouched, url: empty } = await emptyDatabase();

  const taken = environment({ PORT: String(port), DATABASE_URL: empty });
  const { code, stdout, stderr } = await askback(['serve'], taken);
  other.close();

  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, new RegExp(`^askback: 127.0.0.1:${port} is in use by another program.*\n$`));
  const [found] = await untouched`select to_regclass('schema_migrations') as migrations`;
  assert.equal(found?.['migrations'], null);
});

test('serve waits for a missing database and then exits with 1', async () => {
  const proxy = await proxyTo(url);
  await proxy.cut();

  const away = environment({ DATABASE_URL: proxy.url, ASKBACK_DATABASE_WAIT_SECONDS: '1' });
  const { code, stdout, stderr } = await askback(['serve'], away);

  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^waiting up to 1 seconds for the database at 127\.0\.0\.1:\d+ \(.*\)\n/);
  assert.match(
    stderr,
    /\naskback: DATABASE_URL: the database at .* did not answer within 1 seconds \(.*\)\n$/,
  );
});

test('serve is alive but not ready while it waits for the database', async () => {
  const proxy = await proxyTo(url);
  await proxy.cut();
  const port = freePort();
  const service = startService(environment({ DATABASE_URL: proxy.url, PORT: String(port) }));
  await service.stderr.next(/^waiting up to 30 seconds/);

  assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200);
  const early = await fetch(`http://127.0.0.1:${port}/readyz`);
  assert.deepEqual(
    [early.status, ((await early.json()) as { red: object }).red],
    [503, { starting: 'is not done' }],
  );
  const headers = { Accept: 'text/html,application/xhtml+xml', 'Accept-Language': 'de' };
  const page = await fetch(`http://127.0.0.1:${port}/o/acme/responses`, { headers });
  const meaning = ['Content-Type', 'Retry-After', 'Refresh'].map((name) => page.headers.get(name));
  assert.deepEqual([page.status, ...meaning], [503, 'text/html; charset=utf-8', '2', '2']);
  assert.match(await page.text(), /<html lang="de"/);
  const called = await fetch(`http://127.0.0.1:${port}/api/v1/nps`, { headers });
  assert.match(called.headers.get('Content-Type')!, /^application\/json/);
  await proxy.mend();

  assert.match(await service.ready(), /^askback listening/);
  assert.equal(await service.stop(), 0);
});

test('requests get 503 while the database is away, and recover', async () => {
  const client = await makeClient(db);
  const proxy = await proxyTo(url);
  const service = startService(environment({ DATABASE_URL: proxy.url }));
  const address = addressIn(await service.ready());
  const call = () => fetch(`${address}/api/v1/nothing`, { headers: client.read });
  assert.equal((await call()).status, 404);

  await proxy.cut();
  const refused = await call();
  assert.equal(refused.status, 503);
  assert.match(
    ((await refused.json()) as { error: string }).error,
    /the database cannot be reached/,
  );
  const red = await fetch(`${address}/readyz`);
  assert.equal(red.status, 503);
  const { red: reasons } = (await red.json()) as { red: Record<string, string> };
  assert.equal(reasons['database'], 'cannot be reached');
  assert.equal((await fetch(`${address}/healthz`)).status, 200);

  await proxy.mend();
  assert.ok(await within(20_000, async () => (await fetch(`${address}/readyz`)).status === 200));
  // Some connections of the pool may still be broken, although /readyz got a good one.
  assert.ok(await within(20_000, async () => (await call()).status === 404));
  assert.equal(await service.stop(), 0);
});

test('connections ended by an administrator are replaced', async () => {
  const { db: own, url: ownUrl } = await testDatabase();
  const client = await makeClient(own);
  const service = startService(environment({ DATABASE_URL: ownUrl }));
  const address = addressIn(await service.ready());
  const call = () => fetch(`${address}/api/v1/nothing`, { headers: client.read });
  assert.equal((await call()).status, 404);

  const { ended } = one(
    await db<{ ended: number }[]>`
      select count(pg_terminate_backend(pid))::int as ended
      from pg_stat_activity
      where datname = ${new URL(ownUrl).pathname.slice(1)}`,
  );
  assert.ok(ended > 0);

  assert.ok(await within(20_000, async () => (await call()).status === 404));
  assert.equal(await service.stop(), 0);
});

test('a database that is newer than the program is refused by name', async () => {
  const { db: newer, url: address } = await emptyDatabase();
  await migrate(newer, [
    ...readMigrations(),
    { name: '9999_future.sql', text: 'create table future ()', sha256: 'f' },
  ]);

  const { code, stderr } = await askback(['serve'], environment({ DATABASE_URL: address }));

  assert.equal(code, 1);
  assert.match(
    stderr,
    /^askback: this database is newer than this program: .*9999_future\.sql.*\n$/,
  );
});

/** Polls until `isSo` returns true, within the promised time. */
async function within(ms: number, isSo: () => Promise<boolean>): Promise<boolean> {
  const over = Date.now() + ms;
  while (Date.now() < over) {
    if (await isSo()) return true;
    await sleep(50);
  }
  return false;
}

test('a stopping service accepts requests but reports not ready', async () => {
  const service = startService(environment({ ASKBACK_DRAIN_SECONDS: '3' }));
  const address = addressIn(await service.ready());
  service.child.kill('SIGTERM');
  await service.stderr.next(/^stopping on SIGTERM/);

  const red = await fetch(`${address}/readyz`);
  assert.equal(red.status, 503);
  assert.deepEqual(((await red.json()) as { red: object }).red, { draining: 'is stopping' });
  assert.equal((await fetch(`${address}/healthz`)).status, 200);
  assert.equal((await fetch(`${address}/api/v1/surveys`)).status, 401);

  assert.equal(await service.exited, 0);
  await assert.rejects(fetch(`${address}/healthz`));
});
