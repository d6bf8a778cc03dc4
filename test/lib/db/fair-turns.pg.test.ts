import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { runAbortable } from '../../../src/lib/db/abortable.ts';
import { connect, type Db, isPoolBusy } from '../../../src/lib/db/db.ts';
import { inGroup, ofGroup, requestWaitMs, shareFairly } from '../../../src/lib/db/fair-pool.ts';
import { createPoolSlots, serviceWork } from '../../../src/lib/db/pool-slots.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { until } from '../../support/probe/until.ts';

const { db: holders, url } = await testDatabase();

let lastLock = 9000;

/** Statements wait for this lock until it is released. */
async function heldLock() {
  const lock = ++lastLock;
  const holder = await holders.reserve();
  await holder`select pg_advisory_lock(${lock})`;
  return {
    wait: (db: Db) => db`select pg_advisory_xact_lock_shared(${lock})`,
    waiting: async () =>
      (
        await holder`
          select from pg_locks where locktype = 'advisory' and objid = ${lock} and not granted`
      ).length,
    release: async () => {
      await holder`select pg_advisory_unlock(${lock})`;
      holder.release();
    },
  };
}

function ownPool(
  t: TestContext,
  { connections = 8, processors = 2, now = () => performance.now() } = {},
) {
  const pool = connect(url, { connections });
  t.after(() => pool.end({ timeout: 0 }));
  const slots = createPoolSlots({ connections, processors, now });
  const service = shareFairly(pool, slots, serviceWork);
  return { slots, requests: shareFairly(pool, slots), service };
}

const quick = async (db: Db) => (await db`select 1 as one`)[0]!['one'];
const { signal: never } = new AbortController();

test('costly statements of one group use half of the processors while others work, and leave its others and those of other groups alone', async (t) => {
  const { slots, requests } = ownPool(t, { connections: 16, processors: 4, now: () => 0 });
  const { wait, waiting, release } = await heldLock();
  await inGroup('other', () => quick(requests));
  const costly = (group: string) =>
    inGroup(group, () => runAbortable(requests, never, async (sql) => await wait(sql as Db)));
  const crowd = Array.from({ length: 30 }, () => costly('crowd'));
  await until('its share runs', async () => (await waiting()) === 2);

  assert.equal(slots.processors.counts().waiting, 28);
  assert.equal(await inGroup('crowd', () => quick(requests)), 1);
  assert.equal(await inGroup('other', () => quick(requests)), 1);
  const other = costly('other');
  await until('another runs at once', async () => (await waiting()) === 3);
  assert.equal(slots.processors.counts().waiting, 28);
  await release();
  await Promise.all([...crowd, other]);
  assert.deepEqual(slots.processors.counts(), { total: 8, held: 0, waiting: 0, groups: 0 });
  assert.equal(slots.counts().held, 0);
});

test('costly statements of a group that is alone for a second use all processors, until another comes', async (t) => {
  let time = 0;
  const { slots, requests } = ownPool(t, { connections: 16, processors: 4, now: () => time });
  const costly = (group: string, { wait }: Awaited<ReturnType<typeof heldLock>>) =>
    inGroup(group, () => runAbortable(requests, never, async (sql) => await wait(sql as Db)));
  const crowd = async (runs: number) => {
    const lock = await heldLock();
    const all = Array.from({ length: 9 }, () => costly('crowd', lock));
    await until(`${runs} run`, async () => (await lock.waiting()) === runs);
    assert.equal(slots.processors.counts().waiting, 9 - runs);
    return { all, lock };
  };
  const end = async ({ all, lock }: Awaited<ReturnType<typeof crowd>>) => {
    await lock.release();
    await Promise.all(all);
  };

  await quick(requests);
  time = 999;
  await end(await crowd(2));
  time = 1000;
  await end(await crowd(4));

  const held = await heldLock();
  const other = inGroup('other', async () => await held.wait(requests));
  await until('the other works', async () => (await held.waiting()) === 1);
  time = 9000;
  await end(await crowd(2));
  await held.release();
  await other;
  await end(await crowd(2));
  time = 10_000;
  const alone = await crowd(4);
  const late = await heldLock();
  const newcomer = costly('newcomer', late);
  await until('the newcomer runs at once', async () => (await late.waiting()) === 1);
  await late.release();
  await newcomer;
  await end(alone);
  await end(await crowd(2));
  assert.deepEqual(slots.processors.counts(), { total: 8, held: 0, waiting: 0, groups: 0 });
});

test('a costly statement that waits for its turn stops waiting when its caller goes', async (t) => {
  const { slots, requests } = ownPool(t, { processors: 1 });
  const { wait, waiting, release } = await heldLock();
  const first = inGroup('one', () =>
    runAbortable(requests, never, async (sql) => await wait(sql as Db)),
  );
  await until('it has the only turn', async () => (await waiting()) === 1);
  const caller = new AbortController();
  const second = inGroup('one', () => runAbortable(requests, caller.signal, quick as never));
  await until('the other waits', () => slots.processors.counts().waiting === 1);
  caller.abort(new Error('gone'));
  await assert.rejects(second, /gone/);
  assert.equal(await waiting(), 1);
  assert.equal(slots.processors.counts().waiting, 0);
  await release();
  await first;
});

test('what waits too long is refused although no connection comes free', async (t) => {
  const { slots, requests } = ownPool(t, { connections: 2 });
  const { wait, waiting, release } = await heldLock();
  const slow = inGroup('one', async () => await wait(requests));
  await until('it has the only slot', async () => (await waiting()) === 1);
  const late = [
    () => quick(requests),
    async () => await requests.begin((tx) => tx`select 1`),
    () => runAbortable(requests, never, quick as never),
  ].map((work) => assert.rejects(inGroup('two', work, { waitMs: 20 }), isPoolBusy));
  await Promise.all(late);
  assert.equal(await waiting(), 1);
  assert.equal(slots.counts().waiting, 0);
  assert.equal(slots.processors.counts().held, 0);
  await release();
  await slow;
});

test('statements of no group are refused after the five seconds that requests may wait', async (t) => {
  const { requests, service } = ownPool(t, { connections: 2 });
  const { wait, waiting, release } = await heldLock();
  const slow = inGroup('one', async () => await wait(requests));
  await until('it has the only slot', async () => (await waiting()) === 1);
  assert.equal(requestWaitMs, 5000);
  const { setTimeout: later } = globalThis;
  const sooner = (done: () => void, ms: number, ...rest: unknown[]) =>
    later(done, ms === requestWaitMs ? 1 : ms, ...(rest as []));
  t.mock.method(globalThis, 'setTimeout', sooner as never);
  await assert.rejects(async () => await quick(requests), isPoolBusy);
  await assert.rejects(async () => await requests.begin((tx) => tx`select 1`), isPoolBusy);
  const work = quick(service);
  assert.equal(await waiting(), 1);
  await release();
  assert.deepEqual(await Promise.all([slow, work]).then(([, done]) => done), 1);
});

test('slow jobs of one organization leave room for those of another, and for the work of the service', async (t) => {
  const { slots, requests, service } = ownPool(t);
  const { wait, waiting, release } = await heldLock();
  const slow = Array.from({ length: 30 }, async () => await wait(ofGroup(service, 'crowd')));
  await until('it has its share', async () => (await waiting()) === 4);
  assert.equal(await quick(ofGroup(service, 'other')), 1);
  assert.equal(await quick(service), 1);
  assert.equal(await quick(requests), 1);
  assert.equal(slots.counts().waiting, 26);
  await release();
  await Promise.all(slow);
});

test('jobs and requests of one organization take turns', async (t) => {
  const { slots, requests, service } = ownPool(t, { connections: 2 });
  const { wait, waiting, release } = await heldLock();
  const slow = inGroup('one', async () => await wait(requests));
  await until('it has the only slot', async () => (await waiting()) === 1);
  const done: string[] = [];
  const note = (name: string, db: Db) => quick(db).then(() => void done.push(name));
  const all = [
    ...Array.from({ length: 3 }, () => inGroup('one', () => note('request', requests))),
    ...Array.from({ length: 3 }, () => note('job', ofGroup(service, 'one'))),
  ];
  await until('all of them wait', () => slots.counts().waiting === 6);
  await release();
  await Promise.all([slow, ...all]);
  assert.deepEqual(done, ['request', 'job', 'request', 'job', 'request', 'job']);
});

test('a pool that is not shared has no parts', () => {
  assert.equal(ofGroup(holders, 'one'), holders);
});
