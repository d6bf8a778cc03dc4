import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFairSlots } from '../../../src/lib/async/fair-slots.ts';
import { runAbortable } from '../../../src/lib/db/abortable.ts';
import { connect, type Db, isDatabaseAway, isPoolBusy } from '../../../src/lib/db/db.ts';
import { createPoolSlots, inGroup, shareFairly } from '../../../src/lib/db/fair-pool.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { until } from '../../support/probe/until.ts';

const { db: pool, url } = await testDatabase();
const { db: watcher } = await testDatabase();

/** Statements, in all connections of this pool, that wait for the lock of this number. */
const waitingFor = async (lock: number) =>
  (
    await watcher`select from pg_locks where locktype = 'advisory' and objid = ${lock} and not granted`
  ).length;

let lastLock = 7000;

/** A lock that is held until it is released, and statements that wait for it. */
async function heldLock() {
  const lock = ++lastLock;
  const holder = await pool.reserve();
  await holder`select pg_advisory_lock(${lock})`;
  return {
    lock,
    wait: (db: Db) => db`select pg_advisory_xact_lock_shared(${lock})`,
    release: async () => {
      await holder`select pg_advisory_unlock(${lock})`;
      holder.release();
    },
  };
}

test('statements of one group have half of the pool, and those of another go past its queue', async () => {
  const db = shareFairly(pool, createFairSlots({ total: 6, reserve: 3 }));
  const { lock, wait, release } = await heldLock();
  const crowd = Array.from({ length: 30 }, () => inGroup('crowd', async () => await wait(db)));
  await until(
    'the share of the crowd waits in Postgres',
    async () => (await waitingFor(lock)) === 3,
  );

  const [answer] = await inGroup('other', async () => await db`select 1 as one`);
  assert.deepEqual({ ...answer }, { one: 1 });
  assert.equal(await waitingFor(lock), 3);
  await release();
  await Promise.all(crowd);
});

test('what is done inside a transaction takes no second slot of its group', async () => {
  const db = shareFairly(pool, createFairSlots({ total: 2, reserve: 1 }));
  const work = () =>
    db.begin(async (tx) => {
      await tx`select 1`;
      const [row] = await db`select 2 as two`;
      return row?.['two'];
    });
  assert.deepEqual(
    await Promise.all(Array.from({ length: 5 }, () => inGroup('one', work))),
    [2, 2, 2, 2, 2],
  );
});

test('what has begun goes before what has not, and kinds of work in turn', async () => {
  const db = shareFairly(pool, createFairSlots({ total: 1, reserve: 0 }));
  const { lock, wait, release } = await heldLock();
  const done: string[] = [];
  const note = async (name: string) => {
    await db`select 1`;
    done.push(name);
  };
  const begun = inGroup('one', async () => {
    await wait(db);
    await note('begun');
  });
  await until('it has begun', async () => (await waitingFor(lock)) === 1);
  const crowd = Array.from({ length: 3 }, () =>
    inGroup('one', () => note('crowd'), { kind: 'answers' }),
  );
  const request = inGroup('one', () => note('request'));
  await release();
  await Promise.all([begun, request, ...crowd]);
  // Between its two statements its slot goes to another, but not to the whole crowd.
  assert.deepEqual(done, ['crowd', 'begun', 'request', 'crowd', 'crowd']);
});

test('what has not begun when its caller goes never does; what has begun goes on', async () => {
  const slots = createFairSlots({ total: 1, reserve: 0 });
  const db = shareFairly(pool, slots);
  await pool`create table if not exists traces (name text)`;
  const { lock, wait, release } = await heldLock();
  let isGone = false;
  const begun = inGroup(
    'one',
    async () => {
      await wait(db);
      await db`insert into traces values ('begun')`;
    },
    { isGone: () => isGone },
  );
  await until('it has begun', async () => (await waitingFor(lock)) === 1);
  const late = [
    async () => await db`insert into traces values ('statement')`,
    async () => await db.begin((tx) => tx`insert into traces values ('transaction')`),
  ].map((work) => assert.rejects(inGroup('one', work, { isGone: () => isGone }), isDatabaseAway));

  isGone = true;
  await release();
  await Promise.all([begun, ...late]);
  assert.deepEqual([...(await pool`select name from traces`)], [{ name: 'begun' }]);
  assert.equal(slots.counts().held, 0);
});

test('what waits too long for its first connection is refused before it begins', async () => {
  const slots = createFairSlots({ total: 1, reserve: 0 });
  const db = shareFairly(pool, slots);
  const { lock, wait, release } = await heldLock();
  const begun = inGroup(
    'one',
    async () => {
      await wait(db);
      await db`select 1`;
    },
    { waitMs: 0 },
  );
  // The first finds a connection at once, but nothing is quicker than no time at all.
  await assert.rejects(begun, isPoolBusy);

  const patient = inGroup('one', async () => await wait(db), { waitMs: 60_000 });
  await until('it has begun', async () => (await waitingFor(lock)) === 1);
  const late = [
    async () => await db`select 1`,
    async () => await db.begin((tx) => tx`select 1`),
  ].map((work) => assert.rejects(inGroup('one', work, { waitMs: 0 }), isPoolBusy));
  const others = inGroup('one', async () => await db`select 1`);
  await release();
  await Promise.all([patient, others, ...late]);
  assert.deepEqual(slots.counts(), { total: 1, held: 0, waiting: 0, groups: 0 });
});

test('how long it may wait is in milliseconds: after less it begins, after more it is refused', async () => {
  const db = shareFairly(pool, createFairSlots({ total: 1, reserve: 0 }));
  const { lock, wait, release } = await heldLock();
  const holding = inGroup('one', async () => await wait(db));
  await until('it holds the only slot', async () => (await waitingFor(lock)) === 1);
  const startedAt = performance.now();
  const statement = async () => await db`select 1`;
  const transaction = async () => await db.begin((tx) => tx`select 1`);
  const ends = [5, 600_000].map((waitMs) =>
    Promise.all(
      [statement, transaction].map((work) =>
        inGroup('one', work, { waitMs }).then(() => 'begun', isPoolBusy),
      ),
    ),
  );
  await until('they have waited', async () => performance.now() - startedAt > 50);
  await release();
  await holding;
  assert.deepEqual(await Promise.all(ends), [
    [true, true],
    ['begun', 'begun'],
  ]);
});

test('a failed statement and a failed transaction give their slot back', async () => {
  const slots = createFairSlots({ total: 2, reserve: 1 });
  const db = shareFairly(pool, slots);
  await inGroup('one', async () => {
    await assert.rejects(async () => await db`select 1 / 0`);
    await assert.rejects(db.begin(async (tx) => await tx`select 1 / 0`));
  });
  assert.equal(slots.counts().held, 0);
});

test('a statement ends in Postgres when its caller is gone, and its connection serves the next', async () => {
  const slots = createFairSlots({ total: 2, reserve: 1 });
  const db = shareFairly(pool, slots);
  const { lock, wait, release } = await heldLock();
  const caller = new AbortController();
  const ended = inGroup('one', () =>
    runAbortable(db, caller.signal, async (sql) => await wait(sql as Db)),
  );
  await until('the statement waits', async () => (await waitingFor(lock)) === 1);

  caller.abort(new Error('gone'));
  await assert.rejects(ended, /gone/);
  assert.equal(await waitingFor(lock), 0);
  assert.equal(slots.counts().held, 0);
  await release();
  assert.equal((await inGroup('one', async () => await db`select 1`)).length, 1);
});

test('statements of several groups that fill the pool are all cancelled when their callers go', async (t) => {
  const small = connect(url, { connections: 3 });
  t.after(() => small.end({ timeout: 0 }));
  const db = shareFairly(small, createPoolSlots(3));
  const { lock, wait, release } = await heldLock();
  const callers = new AbortController();
  const abortable = (group: string) =>
    inGroup(group, () => runAbortable(db, callers.signal, async (sql) => await wait(sql as Db)));
  const ended = ['one', 'two', 'three'].map((group) => assert.rejects(abortable(group), /gone/));
  await until('they fill the pool', async () => (await waitingFor(lock)) >= 2);

  callers.abort(new Error('gone'));
  await Promise.all(ended);
  await release();
});

test('a statement whose connection is lost leaves a pool that works', async (t) => {
  const small = connect(url, { connections: 1 });
  t.after(() => small.end({ timeout: 0 }));
  const { lock, wait, release } = await heldLock();
  const { signal } = new AbortController();
  const lost = assert.rejects(
    runAbortable(small, signal, async (sql) => await wait(sql as Db)),
    isDatabaseAway,
  );
  await until('the statement waits', async () => (await waitingFor(lock)) === 1);

  await watcher`
    select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and objid = ${lock} and not granted`;
  await lost;
  const [answer] = await small`select 1 as one`;
  assert.deepEqual({ ...answer }, { one: 1 });
  await release();
});
