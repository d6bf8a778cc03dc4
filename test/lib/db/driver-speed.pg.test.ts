import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import net from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect, one } from '../../../src/lib/db/db.ts';
import { testDatabase } from '../../support/probe/database.ts';

const { url } = await testDatabase();

type Socket = () => Promise<net.Socket>;

function poolOf(t: TestContext, connections = 1, socket?: Socket) {
  const db = connect(url, { connections, ...(socket && { socket }) });
  t.after(() => db.end({ timeout: 1 }));
  return db;
}

/** A plain socket to the server of the tests. */
function plainSocket(): net.Socket {
  const { hostname, port, searchParams } = new URL(url);
  const folder = searchParams.get('host');
  if (folder) return net.connect(`${folder}/.s.PGSQL.${port || 5432}`);
  return net.connect(Number(port || 5432), hostname);
}

test('what a transaction sends in one turn goes out in one write, at the end of that turn', async (t) => {
  const socket = plainSocket();
  let writes = 0;
  const { write } = socket;
  socket.write = (...given: unknown[]) => {
    writes += 1;
    return (write as (...all: unknown[]) => boolean).apply(socket, given);
  };
  const db = poolOf(t, 1, () => Promise.resolve(socket));
  const rows = await db.begin(async (tx) => {
    const ask = () => [1, 2, 3].map((n) => tx<{ n: number }[]>`select ${n}::int as n`);
    await Promise.all(ask()); // prepares
    writes = 0;
    const endOfTurn = new Promise<number>((resolve) => setImmediate(() => resolve(writes)));
    const asked = Promise.all(ask());
    assert.equal(await endOfTurn, 1);
    return await asked;
  });
  assert.deepEqual(rows.flat(), [{ n: 1 }, { n: 2 }, { n: 3 }]);
});

test('one text takes values of other types, and parts in their place', async (t) => {
  const db = poolOf(t);
  const show = async (value: Parameters<typeof db>[1]) =>
    one(await db<{ type: string }[]>`select pg_typeof(${value as null})::text as type`).type;
  for (let round = 0; round < 3; round++) {
    assert.equal(await show(true), 'boolean');
    assert.equal(await show(new Date()), 'timestamp with time zone');
    assert.equal(await show(Buffer.from('a')), 'bytea');
    assert.equal(await show(db`${round}::int`), 'integer');
    assert.equal(await show(db`now()`), 'timestamp with time zone');
  }
});

test('parameters of every length arrive whole', async (t) => {
  const db = poolOf(t);
  for (const length of [0, 1, 200, 255, 256, 257, 1023, 1024, 100_000]) {
    const text = 'é'.repeat(length);
    const bytes = Buffer.alloc(length, 7);
    const rows = await db`
      select ${text}::text as text, ${bytes}::bytea as bytes, ${null}::int as none, ${length}::int as length`;
    assert.deepEqual([...rows], [{ text, bytes, none: null, length }]);
  }
});

test('a result has its rows alone, and says how many and by which command', async (t) => {
  const db = poolOf(t);
  const rows = await db<{ n: number }[]>`select n from generate_series(1, 3) n`;
  assert.deepEqual([...rows], [{ n: 1 }, { n: 2 }, { n: 3 }]);
  assert.deepEqual(Object.keys(rows), ['0', '1', '2']);
  assert.equal(rows.count, 3);
  assert.equal(rows.command, 'SELECT');
  assert.deepEqual(
    rows.columns.map(({ name }) => name),
    ['n'],
  );
  assert.ok(rows.state.pid > 0);
  assert.equal((await db`select where false`).count, 0);
  assert.equal(JSON.stringify(rows.map(({ n }) => n * 2)), '[2,4,6]');
});

for (const bytes of [1, 2, 3, 5, 6, 7, 64]) {
  test(`messages that come in pieces of ${bytes} are put together`, async (t) => {
    const db = poolOf(t, 1, () => Promise.resolve(inPieces(plainSocket(), bytes)));
    for (const count of [0, 1, 20]) {
      const rows = await db<{ n: number; text: string }[]>`
        select n, repeat('x', n * 17) as text from generate_series(1, ${count}::int) n`;
      const expected = Array.from({ length: count }, (_, at) => ({
        n: at + 1,
        text: 'x'.repeat((at + 1) * 17),
      }));
      assert.deepEqual([...rows], expected);
    }
    await assert.rejects(async () => await db`select 1 / ${0}::int`, /division by zero/);
    assert.deepEqual([...(await db`select 1 as one`)], [{ one: 1 }]);
  });
}

function inPieces(socket: net.Socket, bytes: number): net.Socket {
  const { emit } = socket;
  socket.emit = (name: string | symbol, ...given: unknown[]) => {
    const [data] = given;
    if (name !== 'data' || !Buffer.isBuffer(data)) return emit.call(socket, name, ...given);
    for (let at = 0; at < data.length; at += bytes)
      emit.call(socket, 'data', data.subarray(at, at + bytes));
    return true;
  };
  return socket;
}

test('long answers on several connections at a time do not mix', async (t) => {
  const db = poolOf(t, 4);
  const answers = Array.from({ length: 12 }, async (_, at) => {
    const { text, hash } = one(
      await db<{ text: string; hash: string }[]>`
        select text, md5(text) as hash
        from (select string_agg(md5((${at}::int * 100000 + n)::text), '') as text
              from generate_series(1, 20000) n) texts`,
    );
    assert.equal(createHash('md5').update(text).digest('hex'), hash);
    return hash;
  });
  assert.equal(new Set(await Promise.all(answers)).size, 12);
});

test('a statement finds its connection as fast after many others, while one connection is never used', async (t) => {
  const db = poolOf(t, 2);
  await Promise.all([db`select pg_sleep(0.05)`, db`select pg_sleep(0.05)`]); // opens both
  let longest = 0;
  const { indexOf } = Array.prototype;
  const replaceBy = (value: unknown) =>
    Object.defineProperty(Array.prototype, 'indexOf', {
      value,
      configurable: true,
      writable: true,
    });
  t.after(() => replaceBy(indexOf));
  const looked = function (this: unknown[], ...given: [{ idleTimer?: unknown } | undefined]) {
    if (given[0]?.idleTimer) longest = Math.max(longest, this.length);
    return indexOf.apply(this, given);
  };
  replaceBy(looked);
  for (let n = 0; n < 500; n++) await db`select ${n}::int`;
  assert.ok(longest > 0 && longest < 100, `looked through ${longest} places`);
});

test('the connection that was used last is the next one, however many have been in use', async (t) => {
  const db = poolOf(t, 4);
  const pidOf = async (seconds = 0) =>
    one(
      await db<{ pid: number }[]>`
      select pg_backend_pid() as pid from pg_sleep(${seconds})`,
    ).pid;
  const opened = await Promise.all([1, 2, 3, 4].map(() => pidOf(0.05)));
  assert.equal(new Set(opened).size, 4);
  const last = await pidOf();
  for (let n = 0; n < 50; n++) assert.equal(await pidOf(), last);
  const [first, second] = [pidOf(0.01), pidOf()];
  assert.notEqual(await second, last);
  assert.equal(await first, last);
  for (let n = 0; n < 50; n++) assert.equal(await pidOf(), last);
  const both = await Promise.all([1, 2, 3, 4].map(() => pidOf(0.05)));
  assert.deepEqual(new Set(both), new Set(opened));
});
