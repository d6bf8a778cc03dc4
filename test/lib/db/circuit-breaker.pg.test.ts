import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { connect, isDatabaseAway, one } from '../../../src/lib/db/db.ts';
import { addCircuitBreaker } from '../../../src/lib/db/fair-pool.ts';
import { proxyTo } from '../../support/fakes/database-proxy.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { until } from '../../support/probe/until.ts';

const { db: admin, url } = await testDatabase();

function poolAt(t: TestContext, address: string) {
  const pool = connect(address, { connections: 2 });
  t.after(() => pool.end({ timeout: 0 }));
  return addCircuitBreaker(pool);
}

const outcome = (asked: Promise<unknown>) => asked.then(() => 'answered', isDatabaseAway);

test('statements fail at once while the database is away', async (t) => {
  const proxy = await proxyTo(url);
  const db = poolAt(t, proxy.url);
  await db`select 1`;
  await proxy.cut();
  // Rejected within a turn of the event loop, without waiting for a connection.
  const atOnce = (asked: Promise<unknown>) =>
    Promise.race([outcome(asked), setImmediate('it waits')]);
  await until('it is known', async () => (await atOnce(db`select 1`.execute())) === true);
  // More statements than the pool has connections.
  const refused = Array.from({ length: 50 }, () => atOnce(db`select 1`.execute()));
  assert.deepEqual(new Set(await Promise.all(refused)), new Set([true]));
  assert.equal(await atOnce(db.begin((tx) => tx`select 1`)), true);

  await proxy.mend();
  await until(
    'it goes on by itself',
    async () => (await outcome(db`select 1`.execute())) === 'answered',
  );
  assert.equal(await outcome(db.begin((tx) => tx`select 1`)), 'answered');
});

test('one lost connection does not open the circuit breaker', async (t) => {
  const db = poolAt(t, url);
  const { pid } = one(await db<{ pid: number }[]>`select pg_backend_pid() as pid`);
  const cut = db.begin(async (tx) => {
    const own = one(await tx<{ pid: number }[]>`select pg_backend_pid() as pid`);
    await admin`select pg_terminate_backend(${own.pid})`;
    await tx`select pg_sleep(60)`;
  });
  await assert.rejects(cut, isDatabaseAway);
  const after = Array.from({ length: 10 }, () => outcome(db`select 1`.execute()));
  assert.deepEqual(await Promise.all(after), Array(10).fill('answered'));
  assert.ok(pid > 0);
});
