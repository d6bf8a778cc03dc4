import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { connect, type Part, type Sql } from '../../../src/lib/db/db.ts';
import { kept, keptFor } from '../../../src/lib/db/kept-part.ts';
import { inTransaction } from '../../../src/lib/db/transaction.ts';
import { testDatabase } from '../../support/probe/database.ts';

const { url } = await testDatabase();
const db = connect(url, { connections: 1 });
const sent: { text: string; parameters: unknown[] }[] = [];
// The driver looks at this option at every statement; its type only knows it at the beginning.
Object.assign(db.options, {
  debug: (_connection: number, text: string, parameters: unknown[]) =>
    sent.push({ text, parameters: [...parameters] }),
});
after(() => db.end());

const one = (sql: Sql, value: number): Part => sql`${value}::int`;
const sum = (sql: Sql, first: Part, second: number): Part => sql`${first} + ${second}::int`;

test('parts bring their parameters in the order of the text', async () => {
  const rows =
    await db`select ${sum(db, sum(db, one(db, 1), 20), 300)} as sum, ${'x'}::text as word`;
  assert.deepEqual([...rows], [{ sum: 321, word: 'x' }]);
  assert.deepEqual(sent.at(-1)?.parameters, [1, 20, 300, 'x']);
});

test('a place takes a part in one statement and a value in another', async () => {
  const twice = async (what: Part | number) => [
    ...(await db`select (${what as Part}::int) * 2 as n`),
  ];
  assert.deepEqual(await twice(one(db, 4)), [{ n: 8 }]);
  assert.deepEqual(await twice(5), [{ n: 10 }]);
  assert.deepEqual(await twice(db`(select ${6}::int)`), [{ n: 12 }]);
  assert.deepEqual(await twice(7), [{ n: 14 }]);
});

test('which of two places takes the part makes another text', async () => {
  const both = async (a: Part | number, b: Part | number) => [
    ...(await db`select ${a as Part}::int as a, ${b as Part}::int as b`),
  ];
  const part = db`(10 + ${1}::int)`;
  assert.deepEqual(await both(part, 2), [{ a: 11, b: 2 }]);
  assert.deepEqual(await both(3, part), [{ a: 3, b: 11 }]);
});

test('a part that is empty leaves no parameter and no trace', async () => {
  const some = async (more: Part) => [...(await db`select ${1}::int as a ${more}, ${2}::int as c`)];
  assert.deepEqual(await some(db``), [{ a: 1, c: 2 }]);
  assert.deepEqual(await some(db`, ${9}::int as b`), [{ a: 1, b: 9, c: 2 }]);
  assert.deepEqual(await some(db``), [{ a: 1, c: 2 }]);
});

test('names and rows are written into the text by what they hold', async () => {
  const table = `named_${randomUUID().replaceAll('-', '')}`;
  await db`create temp table ${db(table)} (a int, b text)`;
  const insert = (rows: object[]) => db`insert into ${db(table)} ${db(rows as { a: number }[])}`;
  await insert([{ a: 1 }]);
  await insert([{ a: 2, b: 'two' }]);
  await db`alter table ${db(table)} add column raw text`;
  await insert([{ a: 3, raw: 'a column of this name is no template' }]);
  const part = db`from ${db(table)} where a = any(${[1, 2]}::int[])`;
  assert.deepEqual(
    [...(await db`select a, b ${part} order by a`)],
    [
      { a: 1, b: null },
      { a: 2, b: 'two' },
    ],
  );
});

test('a part that is kept brings its parameters to each place that it is built into', async () => {
  const part = kept(db`${1}::int + ${20}::int`);
  const first = async (n: number) => [...(await db`select ${part} as a, ${n}::int as b`)];
  const second = async (n: number) => [
    ...(await db`select ${n}::int as b, ${part} + ${part} as a`),
  ];
  const third = async (n: number) => [...(await db`select ${n}::int + ${part} + ${part} as c`)];
  assert.deepEqual(await first(5), [{ a: 21, b: 5 }]);
  assert.deepEqual(await first(6), [{ a: 21, b: 6 }]);
  assert.deepEqual(await second(7), [{ b: 7, a: 42 }]);
  assert.deepEqual(await third(7), [{ c: 49 }]);
  assert.deepEqual(await first(8), [{ a: 21, b: 8 }]);
  assert.deepEqual(sent.at(-1)?.parameters, [1, 20, 8]);
});

test('a part that is kept has the names that the driver writes into it', async () => {
  const part = kept(db`${db('n')} * ${2}::int`);
  for (const n of [3, 4]) {
    const rows = await db`select ${part} as twice from (select ${n}::int as n) given`;
    assert.deepEqual([...rows], [{ twice: 2 * n }]);
  }
});

test('parts of an organization are made once where that is a kept part', () => {
  let made = 0;
  const parts = keptFor((sql, orgId: string | Part) => {
    made += 1;
    return { mine: sql`org_id = ${orgId}` };
  });
  const orgId = kept(db`live.org_id`);
  assert.equal(parts(db, orgId).mine, parts(db, orgId).mine);
  assert.equal(made, 1);
  for (const other of ['an id', db`live.org_id`]) {
    assert.notEqual(parts(db, other).mine, parts(db, other).mine);
  }
});

test('a transaction takes parts of the pool and of its own', async () => {
  const sums = await inTransaction(db, async (tx) => [
    ...(await tx`select ${sum(tx, one(db, 1), 2)} as sum, txid_current() = txid_current() as same`),
  ]);
  assert.deepEqual(sums, [{ sum: 3, same: true }]);
});

test('a statement is sent once, however often it is awaited', async () => {
  const before = sent.length;
  const statement = db`select ${1}::int as n`;
  assert.deepEqual(await Promise.all([statement, statement]).then(([a, b]) => a === b), true);
  assert.equal(sent.length, before + 1);
});

test('a statement that fails rejects with the error of Postgres, and the next is sent', async () => {
  await assert.rejects(async () => await db`select ${'x'}::int as n`, { code: '22P02' });
  assert.deepEqual([...(await db`select ${'8'}::int as n`)], [{ n: 8 }]);
});
