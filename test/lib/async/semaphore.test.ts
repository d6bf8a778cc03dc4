import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  createSemaphore,
  createSemaphores,
  type SemaphoreOptions,
  TooManyWaiting,
} from '../../../src/lib/async/semaphore.ts';

/** A semaphore, and the names of what has started, in order. */
function recorded(options: SemaphoreOptions) {
  const semaphore = createSemaphore(options);
  const started: string[] = [];
  const enter = (name: string) => semaphore.enter(name[0]!, () => started.push(name));
  return { semaphore, started, enter };
}

test('waiting groups take turns, each in order of arrival', () => {
  const { started, enter } = recorded({ slots: 1 });
  const leave = enter('x1');
  const leaves = ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'].map(enter);
  leave();
  for (const at of [0, 3, 4, 1, 5]) leaves[at]!();
  assert.deepEqual(started, ['x1', 'a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});

test('a waiter that leaves never starts, and the next takes its turn', () => {
  const { semaphore, started, enter } = recorded({ slots: 1 });
  const leave = enter('a1');
  const stopWaiting = enter('b1');
  enter('c1');
  stopWaiting();
  stopWaiting();
  leave();
  leave();
  assert.deepEqual(started, ['a1', 'c1']);
  assert.deepEqual(semaphore.counts(), { total: 1, held: 1, waiting: 0, groups: 1 });
});

test('a line without a slot starts while another line of its group hangs', () => {
  const semaphore = createSemaphore({ slots: 8, reserve: 4, reserveForLines: 2 });
  const started: string[] = [];
  const enter = (name: string) => semaphore.enter(name[0]!, () => started.push(name), name[1]!);
  for (const name of ['ax1', 'ax2', 'ax3', 'ax4', 'ax5', 'ay1', 'ay2', 'az1', 'b1']) enter(name);
  assert.deepEqual(started, ['ax1', 'ax2', 'ax3', 'ax4', 'ay1', 'az1', 'b1']);
});

test('the line `next` goes first, and other lines of a group take turns', () => {
  const semaphore = createSemaphore({ slots: 1 });
  const started: string[] = [];
  const enter = (name: string, line?: string) =>
    semaphore.enter(name[0]!, () => started.push(name), line);
  const leaves = [
    enter('x1'),
    enter('a1', 'crowd'),
    enter('a2', 'crowd'),
    enter('a3', 'crowd'),
    enter('a4'),
    enter('a5', 'next'),
    enter('b1', 'crowd'),
  ];
  for (const at of [0, 5, 6, 1, 4, 2]) leaves[at]!();
  assert.deepEqual(started, ['x1', 'a5', 'b1', 'a1', 'a4', 'a2', 'a3']);
});

test('only a group with too many waiters is rejected', () => {
  const { enter } = recorded({ slots: 1, maxWaitingPerGroup: 1 });
  for (const name of ['a1', 'a2']) enter(name);
  assert.throws(() => enter('a3'), TooManyWaiting);
  enter('b1');
});

test('an aborted wait rejects with the reason and keeps no slot', async () => {
  const semaphore = createSemaphore({ slots: 1 });
  const leave = await semaphore.acquire('a');
  const giveUp = new AbortController();
  const waiting = semaphore.acquire('b', giveUp.signal);
  giveUp.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  await assert.rejects(semaphore.acquire('b', giveUp.signal), /enough/);
  leave();
  assert.deepEqual(semaphore.counts(), { total: 1, held: 0, waiting: 0, groups: 0 });
});

test('each key has its own slots, and an unused key is dropped', () => {
  const semaphore = createSemaphores({ slots: 1 });
  const started: string[] = [];
  const leaves = ['x', 'y'].map((key) => semaphore.enter(key, 'a', () => started.push(key)));
  assert.deepEqual(started, ['x', 'y']);
  for (const leave of leaves) leave();
  assert.equal(semaphore.keys(), 0);
});

type Step = { enter: string } | { leave: number } | { resize: number };

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ enter: fc.constantFrom('a', 'b', 'c', 'd', 'e') }) },
  { weight: 4, arbitrary: fc.record({ leave: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ resize: fc.integer({ min: 1, max: 6 }) }) },
);

type Entry = { group: string; started: boolean; left: boolean; leave: () => void };

/** Invariants that hold after every step. */
function check(
  entries: Entry[],
  { limit, reserve, maxPerGroup }: { limit: number; reserve: number; maxPerGroup: number },
) {
  const present = entries.filter(({ left }) => !left);
  const running = present.filter(({ started }) => started);
  const waiting = present.filter(({ started }) => !started);
  const free = limit - running.length;
  const holders = new Set(running.map(({ group }) => group));
  for (const { group } of waiting) {
    assert.ok(free <= 0 || holders.has(group), 'a group without a slot waits while one is free');
    const held = running.filter((entry) => entry.group === group).length;
    if (held >= maxPerGroup) continue;
    assert.ok(free <= reserve, 'capacity is idle while a group waits');
    assert.ok(free <= held, 'a group waits although it holds fewer than are free');
  }
  for (const { group } of waiting) {
    const own = present.filter((entry) => entry.group === group).map(({ started }) => started);
    assert.ok(own.lastIndexOf(true) < own.indexOf(false), 'a later one of a group overtook');
  }
}

test('any history keeps the limits and serves every waiter', () => {
  const sizes = {
    slots: fc.integer({ min: 1, max: 6 }),
    reserve: fc.integer({ min: 0, max: 3 }),
    maxPerGroup: fc.constantFrom(1, 2, 3, Infinity),
  };
  fc.assert(
    fc.property(fc.record(sizes), fc.array(step, { maxLength: 80 }), (options, steps: Step[]) => {
      const semaphore = createSemaphore(options);
      const entries: Entry[] = [];
      const running = () => entries.filter(({ started, left }) => started && !left);
      const { reserve, maxPerGroup } = options;
      let limit = options.slots;

      function enter(group: string) {
        const entry: Entry = { group, started: false, left: false, leave: () => {} };
        entries.push(entry);
        entry.leave = semaphore.enter(group, () => {
          assert.ok(running().length < limit, 'more run than there are slots');
          const own = running().filter((each) => each.group === group);
          assert.ok(own.length < maxPerGroup, 'a group has more than it may');
          entry.started = true;
        });
      }

      function leave(at: number) {
        const present = entries.filter(({ left }) => !left);
        const one = present[at % present.length];
        if (!one) return;
        one.left = true;
        one.leave();
      }

      for (const each of steps) {
        if ('enter' in each) enter(each.enter);
        else if ('leave' in each) leave(each.leave);
        else {
          limit = each.resize;
          semaphore.resize(limit);
        }
        check(entries, { limit, reserve, maxPerGroup });
      }
      for (let one = running()[0]; one; one = running()[0]) {
        one.left = true;
        one.leave();
      }
      assert.ok(
        entries.every(({ started, left }) => started || left),
        'one starved',
      );
      assert.deepEqual(semaphore.counts(), { total: limit, held: 0, waiting: 0, groups: 0 });
    }),
    { numRuns: 500 },
  );
});

test('a first group takes the next slots, up to its maximum', () => {
  const first = [{ name: 'x', max: 2, kept: 0 }];
  const { started, enter } = recorded({ slots: 4, first });
  const leaves = ['a1', 'b1', 'c1', 'd1', 'e1', 'x1', 'x2', 'x3', 'f1'].map(enter);
  for (const at of [0, 1, 2]) leaves[at]!();
  assert.deepEqual(started.slice(4), ['x1', 'x2', 'e1']);
  leaves[5]!();
  assert.deepEqual(started.slice(7), ['x3']);
});

test('a slot reserved for a first group goes to no other group', () => {
  const first = [
    { name: 'x', max: 1, kept: 1 },
    { name: 'y', max: 1, kept: 0 },
  ];
  const { started, enter } = recorded({ slots: 3, first });
  const leaves = ['a1', 'b1', 'c1', 'y1'].map(enter);
  assert.deepEqual(started, ['a1', 'b1']);
  leaves.push(enter('x1'));
  assert.deepEqual(started, ['a1', 'b1', 'x1']);
  leaves[4]!();
  assert.deepEqual(started, ['a1', 'b1', 'x1']);
  leaves[0]!();
  assert.deepEqual(started, ['a1', 'b1', 'x1', 'y1']);
});

/** Records start times with a mocked clock and late timers. */
function timed(options: SemaphoreOptions, lateMs = 0) {
  let now = 1000;
  const timers = new Map<object, { at: number; call: () => void }>();
  test.mock.method(performance, 'now', () => now);
  test.mock.method(globalThis, 'clearTimeout', (timer: object) => timers.delete(timer));
  test.mock.method(globalThis, 'setTimeout', (call: () => void, ms: number) => {
    const timer = {};
    timers.set(timer, { at: now + ms + lateMs, call });
    return timer;
  });
  const semaphore = createSemaphore(options);
  const started: [name: string, at: number][] = [];
  return {
    semaphore,
    started,
    timers,
    enter: (name: string) => semaphore.enter(name[0]!, () => started.push([name, now - 1000])),
    runTimers() {
      for (const [timer, { at, call }] of timers) {
        timers.delete(timer);
        now = at;
        call();
      }
    },
  };
}

test('groups take turns at the rate, and no timer is left', (t) => {
  t.after(() => test.mock.restoreAll());
  const { started, enter, runTimers } = timed({ slots: 9, startsPerSecond: 10 });
  const leaves = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(enter);
  runTimers();
  assert.deepEqual(
    started.map(([name]) => name),
    ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'],
  );
  assert.ok(started.at(-1)![1] >= 480, `${started.at(-1)![1]} ms`);
  for (const leave of leaves) leave();
});

test('nothing starts during the longest requested pause', (t) => {
  t.after(() => test.mock.restoreAll());
  const { semaphore, started, enter, runTimers } = timed({ slots: 9 });
  enter('a1');
  for (const ms of [100, 500, 200]) semaphore.pause(ms);
  enter('a2');
  runTimers();
  assert.deepEqual(started, [
    ['a1', 0],
    ['a2', 500],
  ]);
});
