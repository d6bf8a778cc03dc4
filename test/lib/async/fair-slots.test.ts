import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  createFairSlots,
  createFairSlotsByKey,
  TooManyWaiting,
} from '../../../src/lib/async/fair-slots.ts';

/** An entry to the slots that writes down what starts, in order. */
function recorded(total: number, reserve: number, waitingPerGroup?: number) {
  const slots = createFairSlots({ total, reserve, ...(waitingPerGroup && { waitingPerGroup }) });
  const started: string[] = [];
  const enter = (name: string) => slots.enter(name[0]!, () => started.push(name));
  return { slots, started, enter };
}

test('a group alone uses everything but the reserve', () => {
  const { started, enter } = recorded(4, 1);
  for (const name of ['a1', 'a2', 'a3', 'a4']) enter(name);
  assert.deepEqual(started, ['a1', 'a2', 'a3']);
});

test('a newcomer starts at once although a neighbour hangs', () => {
  const { started, enter } = recorded(4, 1);
  for (const name of ['a1', 'a2', 'a3', 'a4']) enter(name);
  enter('b1');
  assert.deepEqual(started, ['a1', 'a2', 'a3', 'b1']);
});

test('a newcomer gets half of the reserve, so that the next newcomer finds a slot too', () => {
  const { started, enter } = recorded(12, 4);
  for (let at = 1; at <= 12; at += 1) enter(`a${at}`);
  assert.equal(started.length, 8);
  for (const name of ['b1', 'b2', 'b3', 'c1', 'c2', 'd1']) enter(name);
  assert.deepEqual(started.slice(8), ['b1', 'b2', 'c1', 'd1']);
});

test('groups that wait are served in turn, each in its own order', () => {
  const { started, enter } = recorded(1, 0);
  const leave = enter('x1');
  const leaves = ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'].map(enter);
  leave();
  for (const at of [0, 3, 4, 1, 5]) leaves[at]!();
  assert.deepEqual(started, ['x1', 'a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});

test('groups that hold slots and wait for more are served in turn', () => {
  const { started, enter } = recorded(4, 0);
  const leaves = ['a1', 'b1', 'x1', 'x2', 'a2', 'a3', 'b2'].map(enter);
  leaves[2]!();
  leaves[3]!();
  assert.deepEqual(started, ['a1', 'b1', 'x1', 'x2', 'a2', 'b2']);
});

test('a group that lost its last slot and stops waiting is out of every queue', () => {
  const { slots, started, enter } = recorded(1, 0);
  const [leave, stopWaiting] = ['a1', 'a2'].map(enter);
  slots.resize(0);
  leave!();
  stopWaiting!();
  slots.resize(1);
  enter('b1');
  assert.deepEqual(started, ['a1', 'b1']);
});

test('a waiter that leaves gives its turn to the next and does not start later', () => {
  const { slots, started, enter } = recorded(1, 0);
  const leave = enter('a1');
  const stopWaiting = enter('b1');
  enter('c1');
  stopWaiting();
  stopWaiting();
  leave();
  leave();
  assert.deepEqual(started, ['a1', 'c1']);
  assert.deepEqual(slots.counts(), { total: 1, held: 1, waiting: 0, groups: 1 });
});

test('the lines of a group are served in turn, what is next goes before them, and other groups lose no turn', () => {
  const slots = createFairSlots({ total: 1, reserve: 0 });
  const started: string[] = [];
  const enter = (name: string, line?: string) =>
    slots.enter(name[0]!, () => started.push(name), line);
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

test('what is next goes before every other line of its group, whichever these are', () => {
  const line = fc.constantFrom('next', 'usual', 'crowd', 'other');
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const slots = createFairSlots({ total: 1, reserve: 0 });
      const started: number[] = [];
      const leaves = ['usual', ...lines].map((name, place) =>
        slots.enter('a', () => started.push(place), name),
      );
      for (let at = 0; at < leaves.length; at++) leaves[started[at]!]!();
      const served = started.slice(1).map((place) => lines[place - 1]!);
      const nextOnes = lines.filter((name) => name === 'next');
      assert.deepEqual(served.slice(0, nextOnes.length), nextOnes);
      assert.deepEqual(served.toSorted(), lines.toSorted());
    }),
  );
});

test('a caller that stops waiting leaves its line, and the line is served again when others come', () => {
  const slots = createFairSlots({ total: 1, reserve: 0 });
  const started: string[] = [];
  const enter = (name: string) => slots.enter('a', () => started.push(name), 'crowd');
  const leave = enter('first');
  enter('second')();
  assert.equal(slots.counts().waiting, 0);
  const third = enter('third');
  leave();
  third();
  assert.deepEqual(started, ['first', 'third']);
  assert.deepEqual(slots.counts(), { total: 1, held: 0, waiting: 0, groups: 0 });
});

test('a group with too many waiters is refused and another is not', () => {
  const { enter } = recorded(1, 0, 1);
  for (const name of ['a1', 'a2']) enter(name);
  assert.throws(() => enter('a3'), TooManyWaiting);
  enter('b1');
});

test('more slots start what waits, fewer take effect as slots come back', () => {
  const { slots, started, enter } = recorded(1, 0);
  const leaves = ['a1', 'a2', 'a3'].map(enter);
  slots.resize(2);
  assert.deepEqual(started, ['a1', 'a2']);
  slots.resize(1);
  leaves[0]!();
  assert.deepEqual(started, ['a1', 'a2']);
  leaves[1]!();
  assert.deepEqual(started, ['a1', 'a2', 'a3']);
});

test('an aborted wait rejects with the reason and keeps no slot', async () => {
  const slots = createFairSlots({ total: 1, reserve: 0 });
  const leave = await slots.acquire('a');
  const giveUp = new AbortController();
  const waiting = slots.acquire('b', giveUp.signal);
  giveUp.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  await assert.rejects(slots.acquire('b', giveUp.signal), /enough/);
  leave();
  assert.deepEqual(slots.counts(), { total: 1, held: 0, waiting: 0, groups: 0 });
});

test('work that fails gives its slot back', async () => {
  const slots = createFairSlots({ total: 1, reserve: 0 });
  await assert.rejects(
    slots.run('a', () => Promise.reject(new Error('no'))),
    /no/,
  );
  assert.equal(await slots.run('b', async () => 'fine'), 'fine');
});

test('slots of one key are no other key’s, and an unused key is dropped', () => {
  const slots = createFairSlotsByKey({ total: 1, reserve: 0 });
  const started: string[] = [];
  const leaves = ['x', 'y'].map((key) => slots.enter(key, 'a', () => started.push(key)));
  assert.deepEqual(started, ['x', 'y']);
  for (const leave of leaves) leave();
  assert.equal(slots.keys(), 0);
});

type Step = { enter: string } | { leave: number } | { resize: number };

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ enter: fc.constantFrom('a', 'b', 'c', 'd', 'e') }) },
  { weight: 4, arbitrary: fc.record({ leave: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ resize: fc.integer({ min: 1, max: 6 }) }) },
);

type Entry = { group: string; started: boolean; left: boolean; leave: () => void };

/** What must be true of slots at any moment, whatever happened before. */
function check(
  entries: Entry[],
  { limit, reserve, mostPerGroup }: { limit: number; reserve: number; mostPerGroup: number },
) {
  const present = entries.filter(({ left }) => !left);
  const running = present.filter(({ started }) => started);
  const waiting = present.filter(({ started }) => !started);
  const free = limit - running.length;
  const holders = new Set(running.map(({ group }) => group));
  for (const { group } of waiting) {
    assert.ok(free <= 0 || holders.has(group), 'a group without a slot waits while one is free');
    const held = running.filter((entry) => entry.group === group).length;
    if (held >= mostPerGroup) continue;
    assert.ok(free <= reserve, 'capacity is idle while a group waits');
    assert.ok(free <= held, 'a group waits although it holds fewer than are free');
  }
  for (const { group } of waiting) {
    const own = present.filter((entry) => entry.group === group).map(({ started }) => started);
    assert.ok(own.lastIndexOf(true) < own.indexOf(false), 'a later one of a group overtook');
  }
}

test('in every history there are at most as many as allowed, newcomers come in, and all are served', () => {
  const sizes = {
    total: fc.integer({ min: 1, max: 6 }),
    reserve: fc.integer({ min: 0, max: 3 }),
    mostPerGroup: fc.constantFrom(1, 2, 3, Infinity),
  };
  fc.assert(
    fc.property(fc.record(sizes), fc.array(step, { maxLength: 80 }), (options, steps: Step[]) => {
      const slots = createFairSlots(options);
      const entries: Entry[] = [];
      const running = () => entries.filter(({ started, left }) => started && !left);
      const { reserve, mostPerGroup } = options;
      let limit = options.total;

      function enter(group: string) {
        const entry: Entry = { group, started: false, left: false, leave: () => {} };
        entries.push(entry);
        entry.leave = slots.enter(group, () => {
          assert.ok(running().length < limit, 'more run than there are slots');
          const own = running().filter((each) => each.group === group);
          assert.ok(own.length < mostPerGroup, 'a group has more than it may');
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
          slots.resize(limit);
        }
        check(entries, { limit, reserve, mostPerGroup });
      }
      for (let one = running()[0]; one; one = running()[0]) {
        one.left = true;
        one.leave();
      }
      assert.ok(
        entries.every(({ started, left }) => started || left),
        'one starved',
      );
      assert.deepEqual(slots.counts(), { total: limit, held: 0, waiting: 0, groups: 0 });
    }),
    { numRuns: 500 },
  );
});

test('a group waits for at most one turn of each other group', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 40 }),
      (arrivals) => {
        const { started, enter } = recorded(1, 0);
        const leaves = new Map([['x', enter('x')]]);
        for (const [at, group] of arrivals.entries())
          leaves.set(`${group}${at}`, enter(`${group}${at}`));
        for (let at = 0; at < started.length; at += 1) leaves.get(started[at]!)!();
        const turns = started.slice(1).map((name) => name[0]!);
        const groups = new Set(arrivals);
        const rounds = Math.max(
          ...[...groups].map((one) => arrivals.filter((a) => a === one).length),
        );
        // Round by round: in the n-th round each group is served that has n waiters or more.
        for (let round = 1, at = 0; round <= rounds; round += 1) {
          const due = [...groups].filter(
            (one) => arrivals.filter((a) => a === one).length >= round,
          );
          assert.deepEqual(turns.slice(at, at + due.length), due);
          at += due.length;
        }
      },
    ),
  );
});
