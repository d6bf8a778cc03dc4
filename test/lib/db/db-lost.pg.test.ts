import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { connect, type Db, isDatabaseAway, one, type Sql } from '../../../src/lib/db/db.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { until } from '../../support/probe/until.ts';

const { db: admin, url } = await testDatabase();
const slots = 4;

const pidOf = async (sql: Sql) =>
  one(await sql<{ pid: number }[]>`select pg_backend_pid() as pid`).pid;

function poolOf(t: TestContext, address: string) {
  const db = connect(address, { connections: slots });
  t.after(() => db.end({ timeout: 1 }));
  return db;
}

/** Ends a connection and returns when its backend is gone. */
async function cut(pid: number) {
  await admin`select pg_terminate_backend(${pid})`;
  await until('the backend is gone', async () => {
    const left = await admin`select from pg_stat_activity where pid = ${pid}`;
    return left.length === 0;
  });
}

/** Every slot of the pool at once: one that is broken would not answer. */
async function useAllSlots(db: Db) {
  const all = Promise.all(
    Array.from({ length: slots * 2 }, () => db.begin((tx) => tx`select pg_sleep(0.01), ${1}::int`)),
  );
  const late = AbortSignal.timeout(30_000);
  const tooLate = new Promise((_, reject) =>
    late.addEventListener('abort', () => reject(new Error('a slot does not answer'))),
  );
  await Promise.race([all, tooLate]);
}

test('what a transaction still sends when its connection was lost is refused, and runs nowhere', async (t) => {
  await admin`create table if not exists notes (text text)`;
  const db = poolOf(t, url);
  const late: unknown[] = [];

  const begun = db.begin(async (tx) => {
    await cut(await pidOf(tx));
    // Once the pool has made the connection again, a late statement would be one outside of any transaction.
    await useAllSlots(db);
    await tx`insert into notes values (${'late'})`.catch((error: unknown) => late.push(error));
  });

  await assert.rejects(begun, isDatabaseAway);
  await until('the late statement is refused', () => late.length > 0);
  assert.ok(isDatabaseAway(late[0]));
  assert.equal((await admin`select from notes`).length, 0);
  await useAllSlots(db);
});

test('a connection that is lost while a statement runs is an error of that statement, no more', async (t) => {
  const db = poolOf(t, url);
  const begun = db.begin(async (tx) => {
    const pid = await pidOf(tx);
    await Promise.all([tx`select pg_sleep(60)`, cut(pid)]);
  });
  await assert.rejects(begun, isDatabaseAway);
  await useAllSlots(db);
});
