import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type Db, isDatabaseAway, one, type Sql } from '../../../src/lib/db/db.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { until } from '../../support/probe/until.ts';

// Tests of the patches in ops/vendor/postgres, each named after its upstream issue or pull request.

const { db: admin, url } = await testDatabase();
const slots = 4;

type Options = Partial<Parameters<typeof connect>[1]>;

function poolOf(t: TestContext, options: Options = {}, address = url) {
  const db = connect(address, { connections: slots, ...options });
  t.after(() => db.end({ timeout: 1 }));
  return db;
}

const pidOf = async (sql: Sql) =>
  one(await sql<{ pid: number }[]>`select pg_backend_pid() as pid`).pid;

/** Ends a connection and returns when its backend is gone. */
async function cut(pid: number) {
  await admin`select pg_terminate_backend(${pid})`;
  await until('the backend is gone', async () => {
    const left = await admin`select from pg_stat_activity where pid = ${pid}`;
    return left.length === 0;
  });
}

/** A statement that hangs fails the test at once. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const late = sleep(20_000, undefined, { ref: false }).then(() => {
    throw new Error('a statement hangs');
  });
  return await Promise.race([work, late]);
}

/** Uses every slot of the pool at once, so that a broken one shows. */
async function useAllSlots(db: Db) {
  const use = () => db.begin((tx) => tx`select pg_sleep(0.01), ${1}::int`);
  await inTime(Promise.all(Array.from({ length: slots * 2 }, use)));
}

/** A server with this connection handler. Returns its address. */
async function serve(t: TestContext, handle: (socket: net.Socket) => void) {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    handle(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  return `postgres://any@127.0.0.1:${(server.address() as AddressInfo).port}/any`;
}

test('#1155 a transaction refuses statements after a lost connection', async (t) => {
  await admin`create table if not exists notes (text text)`;
  const db = poolOf(t);
  const late: unknown[] = [];
  const begun = db.begin(async (tx) => {
    await cut(await pidOf(tx));
    // The slot has reconnected. A late statement would run outside of any transaction.
    await useAllSlots(db);
    await tx`insert into notes values (${'late'})`.catch((error: unknown) => late.push(error));
  });
  await assert.rejects(begun, isDatabaseAway);
  await until('the late statement is refused', () => late.length > 0);
  assert.ok(isDatabaseAway(late[0]));
  assert.equal((await admin`select from notes`).length, 0);
  await useAllSlots(db);
});

test('#1168 a slot reconnects after it was lost with an unsent message', async (t) => {
  const db = poolOf(t);
  const begun = db.begin(async (tx) => {
    const pid = await pidOf(tx);
    await Promise.all([tx`select pg_sleep(60)`, cut(pid)]);
  });
  await assert.rejects(begun, isDatabaseAway);
  await useAllSlots(db);
});

test('#1209 a new connection starts clean after a failed one', async (t) => {
  const db = poolOf(t, { connections: 1, arrays: false });
  const pid = await pidOf(db);
  await Promise.all([assert.rejects(db`select pg_sleep(60)`, isDatabaseAway), cut(pid)]);
  // The error of the server can arrive before the end of its connection, which refuses one more statement.
  const answers = () => db`select`.then(Boolean, () => false);
  await until('the pool connects again', answers);
  for (let n = 0; n < 3; n++) assert.deepEqual([...(await db`select ${n}::int as n`)], [{ n }]);
});

test('#1215 a statement is resent when its connection fails to start', async (t) => {
  let connections = 0;
  const address = await serve(t, (socket) => {
    const first = connections++ === 0;
    const server = plainSocket();
    server.on('error', () => {});
    server.pipe(socket);
    socket.on('data', (data) => {
      // The driver's own query for types comes before the statement.
      if (first && data.includes('typarray')) socket.end();
      else server.write(data);
    });
    socket.on('close', () => server.destroy());
  });
  const own = new URL(url);
  own.search = '';
  own.host = new URL(address).host;
  const db = poolOf(t, { connections: 1 }, own.href);
  const words = await inTime(db.begin((tx) => tx`select ${['a']}::text[] as words`));
  assert.deepEqual([...words], [{ words: ['a'] }]);
  await useAllSlots(db);
  assert.equal(connections, 2);
});

function plainSocket(): net.Socket {
  const { hostname, port, searchParams } = new URL(url);
  const folder = searchParams.get('host');
  if (folder) return net.connect(`${folder}/.s.PGSQL.${port || 5432}`);
  return net.connect(Number(port || 5432), hostname);
}

const threeRows = async (db: Db) => {
  const rows = await db<{ id: number }[]>`select id from generate_series(1, 3) id`;
  assert.deepEqual([...rows], [{ id: 1 }, { id: 2 }, { id: 3 }]);
};

/** A query that returns rows of two kilobytes, one every ten milliseconds for a minute. */
const streaming = (db: Db) =>
  db`select i, pg_sleep(0.01), repeat('x', 2000) from generate_series(1, 6000) i`;

/** Resolves when the query of a connection runs and has had the time to send some rows. */
async function untilStreaming(pid: number) {
  await until('the query runs', async () => {
    const [running] = await admin<{ long: boolean }[]>`
      select now() - query_start > interval '300 milliseconds' as long
      from pg_stat_activity where pid = ${pid} and state = 'active' and query like '%generate_series%'`;
    return running?.long;
  });
}

test('#1119 a statement after a cancelled one gets only its own rows', async (t) => {
  const db = poolOf(t, { connections: 1 });
  const pid = await pidOf(db);
  const failed = assert.rejects(streaming(db), { code: '57014' });
  await untilStreaming(pid);
  await admin`select pg_cancel_backend(${pid})`;
  await failed;
  await threeRows(db);
});

for (const arrays of [true, false]) {
  test(`#1181 a statement gets its own rows after a reconnect (arrays: ${arrays})`, async (t) => {
    const db = poolOf(t, { connections: 1, arrays });
    const pid = await pidOf(db);
    const failed = assert.rejects(streaming(db), isDatabaseAway);
    await untilStreaming(pid);
    await cut(pid);
    await failed;
    await threeRows(db);
  });
}

test('#1208 a reserved connection refuses statements when it was lost', async (t) => {
  const db = poolOf(t);
  const session = await db.reserve();
  await cut(await pidOf(session));
  await assert.rejects(inTime(session`select 1`), isDatabaseAway);
  await assert.rejects(inTime(session`select 2`), isDatabaseAway);
  session.release();
  await useAllSlots(db);
});

test('#1186 a lost transaction refuses statements that it had not sent', async (t) => {
  const db = poolOf(t);
  const begun = db.begin(async (tx) => {
    const pid = await pidOf(tx);
    // More statements than the driver sends ahead on one connection.
    const all = Array.from({ length: 250 }, () => tx`select pg_sleep(60)`);
    const ended = Promise.allSettled(all);
    await cut(pid);
    return await ended;
  });
  await assert.rejects(inTime(begun), isDatabaseAway);
  await useAllSlots(db);
});

test('#1219 a pool that reads no arrays reserves a connection', async (t) => {
  const db = poolOf(t, { connections: 1, arrays: false });
  const session = await inTime(db.reserve());
  assert.deepEqual([...(await session`select 1 as n`)], [{ n: 1 }]);
  session.release();
  await useAllSlots(db);
});

test('a slot serves again when its socket could not be made', async (t) => {
  let isAway = true;
  const socket = async () => {
    if (isAway) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
    return plainSocket();
  };
  const db = poolOf(t, { connections: 1, socket });
  await assert.rejects(inTime(db.reserve()), isDatabaseAway);
  await assert.rejects(inTime(db`select 1`), isDatabaseAway);
  isAway = false;
  assert.deepEqual([...(await inTime(db`select 1 as n`))], [{ n: 1 }]);
  await useAllSlots(db);
});

test('a statement fails when the server hangs up before a greeting', async (t) => {
  let connections = 0;
  const address = await serve(t, (socket) => {
    connections += 1;
    socket.end();
  });
  const db = poolOf(t, { connections: 1 }, address);
  await assert.rejects(inTime(db`select 1`), isDatabaseAway);
  assert.equal(connections, 1);
});

/** The startup messages of Postgres for a client without a password. */
const welcome = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1');

test('a statement fails when its connection breaks', async (t) => {
  const address = await serve(t, (socket) => {
    socket.once('data', () => {
      socket.once('data', () => socket.resetAndDestroy());
      socket.write(welcome);
    });
  });
  const db = poolOf(t, { connections: 1 }, address);
  await assert.rejects(inTime(db`select 1`), isDatabaseAway);
});
