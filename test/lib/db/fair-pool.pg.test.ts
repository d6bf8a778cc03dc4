import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { connect, type Db, isPoolBusy } from '../../../src/lib/db/db.ts';
import {
  createPoolSlots,
  inGroup,
  poolForGroup,
  runAbortable,
  serviceWork,
  shareFairly,
  ungroupedRequests,
} from '../../../src/lib/db/fair-pool.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { until } from '../../support/probe/until.ts';

const { db: outside, url } = await testDatabase();

/** A pool with the fair sharing of the service. */
function ownPool(t: TestContext, { connections = 8, processors = 2 } = {}) {
  const pool = connect(url, { connections });
  t.after(() => pool.end({ timeout: 0 }));
  const slots = createPoolSlots(connections, processors);
  const service = shareFairly(pool, slots, serviceWork);
  return { slots, requests: shareFairly(pool, slots), service };
}

let lastLock = 7000;

/** Takes a lock for which statements wait until it is released. */
async function heldLock() {
  const lock = ++lastLock;
  const holder = await outside.reserve();
  await holder`select pg_advisory_lock(${lock})`;
  const waiting = async () =>
    (
      await holder`
        select from pg_locks where locktype = 'advisory' and objid = ${lock} and not granted`
    ).length;
  return {
    wait: async (db: Db) => await db`select pg_advisory_xact_lock_shared(${lock})`,
    waiting,
    waitingIs: (count: number) =>
      until(`${count} wait in Postgres`, async () => (await waiting()) === count),
    endConnections: () => holder`
      select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and objid = ${lock} and not granted`,
    release: async () => {
      await holder`select pg_advisory_unlock(${lock})`;
      holder.release();
    },
  };
}

const quick = async (db: Db) => (await db`select 1 as one`)[0]!['one'];
const times = <T>(count: number, make: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => make(at));
const { signal: never } = new AbortController();

/** Slots in use when each of these groups asks for all connections. */
function countHeld(connections: number, groups: readonly string[]) {
  const slots = createPoolSlots(connections);
  for (let n = 0; n < connections; n++) for (const group of groups) void slots.acquire(group);
  return slots.use();
}

const many = times(10, (at) => `group ${at}`);

for (const [connections, one, all, service, mixed] of [
  [1, 1, 1, 1, 1],
  [3, 1, 2, 1, 2],
  [7, 3, 6, 3, 6],
  [8, 4, 5, 5, 6],
  [16, 8, 12, 9, 14],
] as const) {
  test(`a group has ${one} of ${connections} connections, and many have ${all}`, () => {
    assert.deepEqual(countHeld(connections, ['a']), {
      limit: connections,
      busy: one,
      waiting: connections - one,
    });
    assert.equal(countHeld(connections, many).busy, all);
    assert.equal(countHeld(connections, [serviceWork]).busy, service);
    assert.equal(countHeld(connections, [ungroupedRequests, ...many]).busy, mixed);
  });
}

test('a pool runs no more costly statements than its processors allow', () => {
  const { costly } = createPoolSlots(500, 2);
  for (const group of ['a', 'a', 'b', 'c', 'd', 'e']) void costly.acquire(group);
  assert.deepEqual(costly.counts(), { total: 4, held: 4, waiting: 2, groups: 5 });
});

test('other organizations, lookups and the service do not wait for a crowd', async (t) => {
  const { slots, requests, service } = ownPool(t);
  const { wait, waiting, waitingIs, release } = await heldLock();
  const crowd = [
    ...times(15, () => inGroup('crowd', () => wait(requests))),
    ...times(15, () => wait(poolForGroup(service, 'crowd'))),
  ];
  await waitingIs(4);
  assert.equal(await inGroup('other', () => quick(requests)), 1);
  assert.equal(await quick(poolForGroup(service, 'other')), 1);
  assert.equal(await quick(requests), 1);
  assert.equal(await inGroup('crowd', () => quick(service)), 1);
  assert.equal(await waiting(), 4);
  assert.equal(slots.use().waiting, 26);
  await release();
  await Promise.all(crowd);
  assert.deepEqual(slots.use(), { limit: 8, busy: 0, waiting: 0 });
});

test('connections are reserved for lookups and for the service', async (t) => {
  const { requests, service } = ownPool(t);
  const { wait, waiting, waitingIs, release } = await heldLock();
  const crowd = times(30, (at) => inGroup(`group ${at % 10}`, () => wait(requests)));
  await waitingIs(5);
  await Promise.all(times(20, (at) => quick(at % 2 ? requests : service)));
  assert.equal(await waiting(), 5);
  await release();
  await Promise.all(crowd);
});

test('a transaction holds one slot for all its statements', async (t) => {
  const [one, other] = [ownPool(t, { connections: 2 }), ownPool(t, { connections: 2 })];
  const work = () =>
    one.requests.begin(async (tx) => {
      await tx`select 1`;
      await Promise.all([quick(one.requests), quick(one.service), quick(other.requests)]);
    });
  await Promise.all(times(5, () => inGroup('one', work)));
  assert.equal(one.slots.use().busy, 0);
});

test('a statement that outlasts its transaction takes a slot', async (t) => {
  const { slots, requests } = ownPool(t, { connections: 2 });
  const { wait, waitingIs, release } = await heldLock();
  const ended = Promise.withResolvers<void>();
  let afterwards: Promise<unknown> | undefined;
  await requests.begin(async () => {
    afterwards = ended.promise.then(() => wait(requests));
  });
  ended.resolve();
  await waitingIs(1);
  assert.equal(slots.use().busy, 1);
  await release();
  await afterwards;
});

test('a request that has begun goes first, then kinds of work in turn', async (t) => {
  const { slots, requests, service } = ownPool(t, { connections: 2 });
  const { wait, waitingIs, release } = await heldLock();
  const done: string[] = [];
  const note = async (name: string, db = requests) => {
    await quick(db);
    done.push(name);
  };
  const begun = inGroup('one', async () => {
    await wait(requests);
    await note('begun');
  });
  await waitingIs(1);
  const all = [
    ...times(3, () => inGroup('one', () => note('answer'), { kind: 'answers' })),
    ...times(2, () => inGroup('one', () => note('request'))),
    ...times(2, () => note('job', poolForGroup(service, 'one'))),
  ];
  await until('all of them wait', () => slots.use().waiting === 7);
  await release();
  await Promise.all([begun, ...all]);
  // Another request gets the slot between its two statements.
  assert.deepEqual(done, [
    'answer',
    'begun',
    'request',
    'job',
    'answer',
    'request',
    'job',
    'answer',
  ]);
});

test('a request that waits too long for a connection is rejected', async (t) => {
  const { slots, requests } = ownPool(t, { connections: 2 });
  const { wait, waiting, waitingIs, release } = await heldLock();
  const slow = inGroup('one', () => wait(requests), { waitMs: 60_000 });
  await waitingIs(1);
  const late = [
    () => quick(requests),
    () => requests.begin((tx) => tx`select 1`),
    () => runAbortable(requests, never, quick as never),
  ].map((work) => assert.rejects(inGroup('two', work, { waitMs: 20 }), isPoolBusy));
  const patient = inGroup('two', () => quick(requests), { waitMs: 60_000 });
  await Promise.all(late);
  assert.equal(await waiting(), 1);
  await release();
  assert.equal(await patient, 1);
  await slow;
  assert.deepEqual(slots.use(), { limit: 2, busy: 0, waiting: 0 });
});

test('a request that has begun has no time limit for further connections', async (t) => {
  const { slots, requests } = ownPool(t, { connections: 2 });
  const { wait, waitingIs, release } = await heldLock();
  let slow: Promise<unknown> | undefined;
  const waitMs = 30;
  const request = inGroup(
    'one',
    async () => {
      await quick(requests);
      slow = inGroup('two', () => wait(requests));
      await waitingIs(1);
      const startedAt = performance.now();
      const next = quick(requests);
      await until('it has waited', () => performance.now() - startedAt > 2 * waitMs);
      assert.equal(slots.use().waiting, 1);
      await release();
      return await next;
    },
    { waitMs },
  );
  assert.equal(await request, 1);
  await slow;
});

test('a failed statement or transaction releases its slot', async (t) => {
  const { slots, requests } = ownPool(t);
  await assert.rejects(async () => await requests`select 1 / 0`, { code: '22012' });
  await assert.rejects(
    requests.begin((tx) => tx`select 1 / 0`),
    { code: '22012' },
  );
  assert.equal(slots.use().busy, 0);
});

const costly = (db: Db, signal: AbortSignal, work: (db: Db) => Promise<unknown>) =>
  runAbortable(db, signal, (sql) => work(sql as Db));

test('Postgres ends the statements of callers that have gone', async (t) => {
  const { slots, requests } = ownPool(t, { connections: 3 });
  const { wait, waiting, waitingIs, release } = await heldLock();
  const callers = new AbortController();
  const ended = ['one', 'two', 'three'].map((group) =>
    assert.rejects(
      inGroup(group, () => costly(requests, callers.signal, wait)),
      /gone/,
    ),
  );
  await waitingIs(2);
  callers.abort(new Error('gone'));
  await Promise.all(ended);
  assert.equal(await waiting(), 0);
  assert.deepEqual(slots.use(), { limit: 3, busy: 0, waiting: 0 });
  await release();
  assert.equal(await quick(requests), 1);
});

test('costly statements of a group take half of the processors', async (t) => {
  const { slots, requests } = ownPool(t, { connections: 16, processors: 4 });
  const { wait, waitingIs, release } = await heldLock();
  const crowd = times(30, () => inGroup('crowd', () => costly(requests, never, wait)));
  await waitingIs(2);
  assert.equal(slots.costly.counts().waiting, 28);
  assert.equal(await inGroup('crowd', () => quick(requests)), 1);
  const other = inGroup('other', () => costly(requests, never, wait));
  await waitingIs(3);
  await release();
  await Promise.all([...crowd, other]);
  assert.equal(slots.costly.counts().held, 0);
});

test('a costly statement stops waiting when its caller goes', async (t) => {
  const { slots, requests } = ownPool(t);
  const { wait, waiting, waitingIs, release } = await heldLock();
  const first = inGroup('one', () => costly(requests, never, wait));
  await waitingIs(1);
  const caller = new AbortController();
  const second = inGroup('one', () => costly(requests, caller.signal, quick));
  await until('the other waits', () => slots.use().waiting === 1);
  caller.abort(new Error('gone'));
  await assert.rejects(second, /gone/);
  assert.equal(await waiting(), 1);
  assert.equal(slots.use().waiting, 0);
  await release();
  await first;
});
