import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createFairSlots } from '../../../src/lib/async/fair-slots.ts';
import { runAbortable } from '../../../src/lib/db/abortable.ts';
import { connect, type Db, isDatabaseAway, isPoolBusy } from '../../../src/lib/db/db.ts';
import { inGroup, shareFairly } from '../../../src/lib/db/fair-pool.ts';
import { createPoolSlots, serviceWork } from '../../../src/lib/db/pool-slots.ts';
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
  const db = shareFairly(small, createPoolSlots({ connections: 3, processors: 2 }));
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

/** A pool of its own, as the service has it, and the groups of what took a turn, in order. */
function ownPool(t: TestContext, connections: number) {
  const small = connect(url, { connections });
  t.after(() => small.end({ timeout: 0 }));
  const made = createPoolSlots({ connections, processors: 2 });
  const entered: string[] = [];
  const slots: typeof made = {
    ...made,
    take(group, ...rest) {
      entered.push(group);
      return made.take(group, ...rest);
    },
  };
  return {
    slots,
    entered,
    requests: shareFairly(small, slots),
    service: shareFairly(small, slots, serviceWork),
  };
}

const whatever = async (db: Db) => (await db`select 1 as one`)[0]!['one'];

test('statements of no group are served as soon as one slow statement ends, although others still run', async (t) => {
  const { slots, requests, service } = ownPool(t, 4);
  const [first, others] = [await heldLock(), await heldLock()];
  const ending = inGroup('one', async () => await first.wait(requests));
  const slow = ['two', 'three', 'two', 'three'].map((group) =>
    inGroup(group, async () => await others.wait(requests)),
  );
  await until('all slots are taken', async () => (await waitingFor(others.lock)) === 2);
  const lookups = Array.from({ length: 10 }, () => whatever(requests));
  const works = Array.from({ length: 10 }, () => whatever(service));
  await until('all of them wait', () => slots.counts().waiting === 22);

  await first.release();
  await Promise.all([...lookups, ...works, ending]);
  assert.equal(await waitingFor(others.lock), 2);
  await others.release();
  await Promise.all(slow);
});

test('in a large pool one connection is kept for statements of no group, and one for the work of the service', async (t) => {
  const { slots, requests, service } = ownPool(t, 8);
  const { lock, wait, release } = await heldLock();
  const slow = Array.from({ length: 30 }, (_, at) =>
    inGroup(`group ${at % 10}`, async () => await wait(requests)),
  );
  await until('they have all that they get', async () => (await waitingFor(lock)) === 5);
  const short = Array.from({ length: 20 }, () => [whatever(requests), whatever(service)]).flat();
  assert.deepEqual([...new Set(await Promise.all(short))], [1]);
  assert.equal(await waitingFor(lock), 5);
  assert.deepEqual(slots.counts(), { total: 7, held: 5, waiting: 25, groups: 10 });
  await release();
  await Promise.all(slow);
});

test('slow work of the service leaves room for requests', async (t) => {
  const { slots, requests, service } = ownPool(t, 8);
  const { lock, wait, release } = await heldLock();
  const slow = Array.from({ length: 30 }, async () => await wait(service));
  await until('it has its share', async () => (await waitingFor(lock)) === 5);
  const requested = [whatever(requests), inGroup('one', () => whatever(requests))];
  assert.deepEqual(await Promise.all(requested), [1, 1]);
  assert.deepEqual(slots.counts(), { total: 7, held: 5, waiting: 25, groups: 1 });
  await release();
  await Promise.all(slow);
});

test('work of the service is none of the group that a request belongs to', async (t) => {
  const { requests, service } = ownPool(t, 8);
  const { lock, wait, release } = await heldLock();
  const slow = Array.from({ length: 30 }, () => inGroup('one', async () => await wait(requests)));
  await until('the group has its share', async () => (await waitingFor(lock)) === 4);
  assert.equal(await inGroup('one', () => whatever(service)), 1);
  await release();
  await Promise.all(slow);
});

test('a transaction of no group has one slot, also for what others do inside it, and not after its end', async (t) => {
  const { slots, entered, requests, service } = ownPool(t, 2);
  const ended = Promise.withResolvers<void>();
  let afterwards: Promise<unknown> | undefined;
  const inside = await service.begin(async (tx) => {
    await tx`select 1`;
    afterwards = ended.promise.then(() => whatever(requests));
    return [await whatever(requests), await whatever(service), slots.counts().held];
  });
  assert.deepEqual(inside, [1, 1, 1]);
  assert.deepEqual(entered, [serviceWork]);
  ended.resolve();
  await afterwards;
  assert.equal(entered.length, 2);
  assert.equal(slots.counts().held, 0);
});

test('a statement on another pool inside a transaction takes a slot of that pool', async (t) => {
  const [one, other] = [ownPool(t, 2), ownPool(t, 2)];
  await one.requests.begin(async (tx) => {
    await tx`select 1`;
    await whatever(other.requests);
    await whatever(one.requests);
  });
  assert.deepEqual([one.entered.length, other.entered.length], [1, 1]);
});
