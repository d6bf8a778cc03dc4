import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFairSlots } from '../../../src/lib/async/fair-slots.ts';

type Limits = { total: number; reserve: number; most: number; kept: number };

/** Slots whose groups `x` and `y` go first, and of which `x` has slots of its own. */
function recorded({ total, reserve, most, kept }: Limits) {
  const first = [
    { name: 'x', most, kept },
    { name: 'y', most, kept: 0 },
  ];
  const slots = createFairSlots({ total, reserve, first });
  const started: string[] = [];
  const enter = (name: string) => slots.enter(name[0]!, () => started.push(name));
  return { slots, started, enter };
}

test('what goes first has the next slot that comes back, however many others wait before it', () => {
  const { started, enter } = recorded({ total: 3, reserve: 0, most: 1, kept: 0 });
  const leaves = ['a1', 'b1', 'c1', 'd1', 'a2', 'x1'].map(enter);
  leaves[1]!();
  assert.deepEqual(started, ['a1', 'b1', 'c1', 'x1']);
});

test('what goes first does so up to its number of slots, and then in turn', () => {
  const { started, enter } = recorded({ total: 4, reserve: 0, most: 2, kept: 0 });
  const leaves = ['a1', 'b1', 'c1', 'd1', 'e1', 'x1', 'x2', 'x3', 'f1'].map(enter);
  for (const at of [0, 1, 2]) leaves[at]!();
  assert.deepEqual(started.slice(4), ['x1', 'x2', 'e1']);
  leaves[5]!();
  assert.deepEqual(started.slice(7), ['x3']);
});

test('a slot that is kept for a group is free for it while all others are taken', () => {
  const { started, enter } = recorded({ total: 3, reserve: 0, most: 1, kept: 1 });
  const leaves = ['a1', 'b1', 'c1', 'y1'].map(enter);
  assert.deepEqual(started, ['a1', 'b1']);
  leaves.push(enter('x1'));
  assert.deepEqual(started, ['a1', 'b1', 'x1']);
  leaves[4]!();
  assert.deepEqual(started, ['a1', 'b1', 'x1']);
  leaves[0]!();
  assert.deepEqual(started, ['a1', 'b1', 'x1', 'y1']);
});

type Entry = { group: string; started: boolean; left: boolean; leave: () => void };

const step = fc.oneof(
  fc.record({ enter: fc.constantFrom('a', 'b', 'c', 'x', 'y') }),
  fc.record({ leave: fc.nat() }),
);

const limits = fc
  .record({
    reserve: fc.nat(2),
    most: fc.nat(2),
    kept: fc.nat(1),
    more: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ more, ...rest }) => ({ ...rest, total: 2 * rest.most + rest.kept + more }));

test('in every history the first come first, within their limits, and all others are served', () => {
  fc.assert(
    fc.property(limits, fc.array(step, { maxLength: 80 }), (given, steps) => {
      const { slots } = recorded(given);
      const entries: Entry[] = [];
      const count = (group: string, started: boolean) =>
        entries.filter((each) => each.group === group && each.started === started && !each.left)
          .length;
      const running = () => entries.filter(({ started, left }) => started && !left);

      /** What must be true when one of this group starts, before it counts. */
      function checkStart(group: string) {
        const free = given.total - running().length;
        assert.ok(free > 0, 'more run than there are slots');
        const keptFree = Math.max(given.kept - count('x', true), 0);
        assert.ok(group === 'x' || free > keptFree, 'a slot that is kept went to another group');
        for (const first of ['x', 'y']) {
          if (count(first, false) === 0 || first === group) continue;
          const isFirst = ['x', 'y'].includes(group) && count(group, true) < given.most;
          const isDue = count(first, true) < given.most && free > (first === 'x' ? 0 : keptFree);
          assert.ok(isFirst || !isDue, 'another started while one of the first waits');
        }
      }

      function checkWaiting() {
        const free = given.total - running().length - Math.max(given.kept - count('x', true), 0);
        for (const group of ['a', 'b', 'c', 'x', 'y']) {
          if (count(group, false) === 0) continue;
          assert.ok(free <= 0 || count(group, true) > 0, 'a group without a slot waits');
          const isFirst = group === 'x' || group === 'y';
          assert.ok(
            !isFirst || free <= 0 || count(group, true) >= given.most,
            'one of the first waits while a slot is free',
          );
        }
      }

      for (const each of steps) {
        if ('enter' in each) {
          const entry: Entry = { group: each.enter, started: false, left: false, leave: () => {} };
          entries.push(entry);
          entry.leave = slots.enter(each.enter, () => {
            checkStart(each.enter);
            entry.started = true;
          });
        } else {
          const one = running()[each.leave % Math.max(running().length, 1)];
          if (one) one.left = true;
          one?.leave();
        }
        checkWaiting();
      }
      for (let one = running()[0]; one; one = running()[0]) {
        one.left = true;
        one.leave();
      }
      assert.ok(
        entries.every(({ left }) => left),
        'one starved',
      );
      assert.equal(slots.counts().groups, 0);
    }),
    { numRuns: 1000 },
  );
});

test('groups that never cease to come first leave the others all slots but theirs', () => {
  const { started, enter } = recorded({ total: 6, reserve: 0, most: 2, kept: 1 });
  const leaves = new Map<string, () => void>();
  let number = 0;
  const add = (group: string) => {
    const name = `${group}${number++}`;
    leaves.set(name, enter(name));
  };
  for (const group of ['x', 'x', 'x', 'x', 'y', 'y', 'y', 'y']) add(group);
  for (let n = 0; n < 40; n++) add('a');
  for (let at = 0; at < 200; at++) {
    const name = started[at]!;
    leaves.get(name)!();
    add(name[0]!);
  }
  const count = (group: string) => started.filter((name) => name[0] === group).length;
  // Two of six slots, apart from what the others took before it came.
  assert.ok(count('a') * 10 >= started.length * 3, `${count('a')} of ${started.length}`);
});
