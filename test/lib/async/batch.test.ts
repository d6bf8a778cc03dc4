import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBatch } from '../../../src/lib/async/batch.ts';

/** A writer that records its batches and ends them when the test says so. */
function heldWriter() {
  const batches: number[][] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const write = async (items: number[]) => {
    batches.push(items);
    const end = Promise.withResolvers<void>();
    ends.push(end);
    await end.promise;
    return items.map((item) => item * 10);
  };
  return { batches, ends, write };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('items of one turn are one batch, and those that come meanwhile the next', async () => {
  const { batches, ends, write } = heldWriter();
  const { add } = createBatch(write, { most: 10 });
  const first = [add(1), add(2)];
  await turn();
  const second = [add(3), add(4)];
  await turn();
  assert.deepEqual(batches, [[1, 2]]);
  ends[0]!.resolve();
  assert.deepEqual(await Promise.all(first), [10, 20]);
  await turn();
  assert.deepEqual(batches, [
    [1, 2],
    [3, 4],
  ]);
  ends[1]!.resolve();
  assert.deepEqual(await Promise.all(second), [30, 40]);
});

test('a full batch does not wait, and what is over it waits for others', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { batches, ends, write } = heldWriter();
  const { add } = createBatch(write, { most: 2, lingerMs: 20 });
  const all = [add(1), add(2), add(3)];
  await turn();
  assert.deepEqual(batches, [[1, 2]]);
  ends[0]!.resolve();
  await all[0];
  await turn();
  assert.deepEqual(batches, [[1, 2]]);
  t.mock.timers.tick(20);
  await turn();
  assert.deepEqual(batches, [[1, 2], [3]]);
  ends[1]!.resolve();
  await Promise.all(all);
});

test('a batch is full with as many items as it may have', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { batches, ends, write } = heldWriter();
  const { add } = createBatch(write, { most: 2, lingerMs: 20 });
  const all = [add(1), add(2)];
  assert.deepEqual(batches, [[1, 2]]);
  ends[0]!.resolve();
  await Promise.all(all);
});

test('a flush writes at once what would have waited', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { batches, ends, write } = heldWriter();
  const { add, flush } = createBatch(write, { most: 10, lingerMs: 20 });
  const only = add(1);
  await turn();
  assert.deepEqual(batches, []);
  flush();
  await turn();
  assert.deepEqual(batches, [[1]]);
  ends[0]!.resolve();
  assert.equal(await only, 10);
});

test('a batch that fails fails its own items, and the next is written', async () => {
  let fails = true;
  const { add } = createBatch(
    async (items: number[]) => {
      if (fails) throw new Error('away');
      return items;
    },
    { most: 10 },
  );
  await assert.rejects(Promise.all([add(1), add(2)]), /away/);
  fails = false;
  assert.equal(await add(3), 3);
});

test('an item that comes after a flush waits its whole time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { batches, ends, write } = heldWriter();
  const { add, flush } = createBatch(write, { most: 10, lingerMs: 20 });
  const first = add(1);
  flush();
  await turn();
  ends[0]!.resolve();
  await first;
  t.mock.timers.tick(10);
  const second = add(2);
  t.mock.timers.tick(10);
  await turn();
  assert.deepEqual(batches, [[1]]);
  t.mock.timers.tick(10);
  await turn();
  assert.deepEqual(batches, [[1], [2]]);
  ends[1]!.resolve();
  await second;
});
