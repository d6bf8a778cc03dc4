import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connect } from '../../../src/lib/db/db.ts';
import { watchPool } from '../../../src/lib/db/pool-use.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { until } from '../../support/probe/until.ts';

const { db: gate, url } = await testDatabase();
const { db, use } = watchPool(connect(url, { connections: 2 }));
after(() => db.end());
await gate`create table gates (number integer)`;

/** While it is held, everything that reads the table waits. */
async function lockedOut(act: () => Promise<void>) {
  await gate.begin(async (tx) => {
    await tx`lock table gates in access exclusive mode`;
    await act();
  });
}

const read = () => db`select from gates`;

test('an unused pool is idle', async () => {
  await db`select 1`;
  assert.deepEqual(use(), { limit: 2, busy: 0, waiting: 0 });
});

test('a query is in use from when it is asked until it is answered', async () => {
  let answered: Promise<unknown> = Promise.resolve();
  await lockedOut(async () => {
    answered = read().execute();
    await until('it is under way', () => use().busy === 1);
    assert.equal(use().waiting, 0);
  });
  await answered;
  assert.equal(use().busy, 0);
});

test('what is more than the connections waits, also behind others on one', async () => {
  const answered: Promise<unknown>[] = [];
  await lockedOut(async () => {
    for (let i = 0; i < 5; i++) answered.push(read().execute());
    await until('all are asked', () => use().waiting === 3);
    assert.equal(use().busy, 2);
  });
  await Promise.all(answered);
  assert.deepEqual(use(), { limit: 2, busy: 0, waiting: 0 });
});

test('a transaction has its connection until it ends, between its statements too', async () => {
  const inside = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const transaction = db.begin(async (tx) => {
    await tx`select 1`;
    begun.resolve();
    await inside.promise;
  });
  await begun.promise;
  assert.deepEqual(use(), { limit: 2, busy: 1, waiting: 0 });
  inside.resolve();
  await transaction;
  assert.equal(use().busy, 0);
});

test('a transaction that gets no connection waits', async () => {
  const inside = Promise.withResolvers<void>();
  const hold = () => db.begin('read only', () => inside.promise);
  const held = [hold(), hold(), hold()];
  await until('two have one', () => use().busy === 2);
  assert.equal(use().waiting, 1);
  inside.resolve();
  await Promise.all(held);
  assert.deepEqual(use(), { limit: 2, busy: 0, waiting: 0 });
});

test('what fails is not in use any more, and fails as before', async () => {
  await assert.rejects(db`select from nowhere`.execute(), { code: '42P01' });
  await assert.rejects(
    db.begin(async () => {
      throw new Error('thought better of it');
    }),
    /thought better/,
  );
  assert.deepEqual(use(), { limit: 2, busy: 0, waiting: 0 });
});

test('a part of a query is no query', async () => {
  const part = db`where false`;
  await db`select from gates ${part}`;
  assert.equal(use().busy, 0);
  assert.deepEqual(use(), { limit: 2, busy: 0, waiting: 0 });
});
