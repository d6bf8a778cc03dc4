import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFairSweep } from '../../../src/lib/async/fair-sweep.ts';
import { until } from '../../support/probe/until.ts';

type Item = { group: string; place: number };

test('the items of a group are done one after the other, in their order, next to those of other groups', async () => {
  const items = ['a', 'a', 'b', 'a', 'b'].map((group, place) => ({ group, place }));
  const [begun, ends] = [[] as number[], new Map<number, () => void>()];
  const work = ({ place }: Item) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    begun.push(place);
    ends.set(place, resolve);
    return promise;
  };
  const swept = createFairSweep(({ group }: Item) => group)(items, work);
  await until('one of each group has begun', () => begun.length === 2);
  assert.deepEqual(begun, [0, 2]);
  ends.get(2)!();
  await until('the next of its group has begun', () => begun.length === 3);
  assert.deepEqual(begun, [0, 2, 4]);
  for (const place of [4, 0]) ends.get(place)!();
  await until('the second of the slow group has begun', () => begun.length === 4);
  ends.get(1)!();
  await until('its third has begun', () => begun.length === 5);
  assert.deepEqual(begun, [0, 2, 4, 1, 3]);
  ends.get(3)!();
  await swept;
});

test('a sweep fails with the work that fails, and the work of others is done', async () => {
  const done: string[] = [];
  const sweep = createFairSweep((group: string) => group);
  const failing = sweep(['a', 'b', 'b'], async (group) => {
    if (group === 'a') throw new Error('no');
    done.push(group);
  });
  await assert.rejects(failing, /^Error: no$/);
  await until('the work of the other group is done', () => done.length === 2);
});
