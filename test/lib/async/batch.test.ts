import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBatch } from '../../../src/lib/async/batch.ts';

type Item = { key: string; n: number };

const item = (key: string, n: number): Item => ({ key, n });
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Writers that record their writes, which end when the test says so. */
function heldWriters() {
  const writes: { own: boolean; items: Item[]; end: PromiseWithResolvers<void> }[] = [];
  const writer = (own: boolean) => async (items: Item[]) => {
    const end = Promise.withResolvers<void>();
    writes.push({ own, items, end });
    await end.promise;
    return items.map(({ n }) => n * 10);
  };
  return {
    writes,
    shown: () => writes.map(({ items }) => items.map(({ key, n }) => key + n).join(' ')),
    writers: {
      keyOf: ({ key }: Item) => key,
      write: writer(false),
      writeKey: writer(true),
    },
  };
}

test('each key gets its share of a batch', async () => {
  const { writes, shown, writers } = heldWriters();
  const { add } = createBatch(writers, { maxItems: 4, concurrency: 1 });
  const all = [1, 2, 3, 4].map((n) => add(item('first', n)));
  await turn();
  const next = [5, 6, 7, 8, 9].map((n) => add(item('many', n)));
  const few = add(item('few', 10));
  await turn();
  writes[0]!.end.resolve();
  await Promise.all(all);
  await turn();
  assert.deepEqual(shown(), ['first1 first2 first3 first4', 'many5 many6 many7 few10']);
  writes[1]!.end.resolve();
  await few;
  await turn();
  assert.equal(shown().at(-1), 'many8 many9');
  writes[2]!.end.resolve();
  await Promise.all(next);
});

test('a blocked key is retried alone and delays no other key', async () => {
  const { writes, writers } = heldWriters();
  const { add } = createBatch(writers, { maxItems: 10, concurrency: 1 });
  const [held, other] = [add(item('held', 1)), add(item('other', 2))];
  await turn();
  writes[0]!.end.reject(new Error('a lock is not free'));
  await turn();
  assert.deepEqual(
    writes.slice(1).map(({ own, items }) => ({ own, key: items[0]!.key })),
    [
      { own: true, key: 'held' },
      { own: true, key: 'other' },
    ],
  );
  writes[2]!.end.resolve();
  assert.equal(await other, 20);
  const later = add(item('other', 3));
  const behind = add(item('held', 4));
  await turn();
  assert.deepEqual(writes[3]!.items, [item('other', 3)]);
  writes[3]!.end.resolve();
  assert.equal(await later, 30);
  writes[1]!.end.resolve();
  assert.equal(await held, 10);
  await turn();
  writes[4]!.end.resolve();
  assert.equal(await behind, 40);
});

const arrivals = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ add: fc.constantFrom('a', 'b', 'c', 'd') }) },
    { weight: 2, arbitrary: fc.record({ flush: fc.constantFrom('a', 'b', 'c', 'd') }) },
    { weight: 2, arbitrary: fc.record({ tick: fc.constantFrom(7, 20) }) },
    {
      weight: 3,
      arbitrary: fc.record({ end: fc.nat(3), as: fc.constantFrom('written', 'failed') }),
    },
  ),
  { maxLength: 60 },
);
const limits = fc.record({
  maxItems: fc.integer({ min: 1, max: 5 }),
  concurrency: fc.integer({ min: 1, max: 3 }),
});

test('any history writes each item once and in order', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await fc.assert(
    fc.asyncProperty(arrivals, limits, async (steps, { maxItems, concurrency }) => {
      const { writes, writers } = heldWriters();
      const open = new Set<(typeof writes)[number]>();
      const [written, failed] = [new Map<string, number[]>(), new Set<number>()];
      const watched = watch(writers, writes, open);
      const { add, flush } = createBatch(watched, { maxItems, concurrency, lingerMs: 20 });
      const added: { at: Item; ended: Promise<unknown> }[] = [];
      const unsaved = new Map<string, number>();

      const end = async (place: number, as: 'written' | 'failed') => {
        const ended = [...open][place % Math.max(open.size, 1)];
        if (!ended) return;
        open.delete(ended);
        if (as === 'failed') ended.end.reject(new Error('held up'));
        else ended.end.resolve();
        await turn();
        if (as === 'failed' && !ended.own) return;
        for (const { key, n } of ended.items) {
          unsaved.set(key, unsaved.get(key)! - 1);
          if (as === 'failed') failed.add(n);
          written.set(key, [...(written.get(key) ?? []), n]);
        }
      };

      for (const [n, step] of steps.entries()) {
        if ('add' in step) {
          unsaved.set(step.add, (unsaved.get(step.add) ?? 0) + 1);
          const ended = add(item(step.add, n)).catch(() => 'failed');
          added.push({ at: item(step.add, n), ended });
        }
        if ('flush' in step) flush();
        if ('tick' in step) t.mock.timers.tick(step.tick);
        if ('end' in step) await end(step.end, step.as);
        assertBounded([...open], { maxItems, concurrency });
        if ('flush' in step) assertGoesOn(step.flush, [...open], { unsaved, concurrency });
      }
      for (let rounds = 0; added.length > 0 && rounds < 500; rounds++) {
        t.mock.timers.tick(20);
        await end(0, 'written');
        if ([...unsaved.values()].every((left) => left === 0)) break;
      }
      const left = [...unsaved].filter(([, items]) => items > 0);
      assert.deepEqual(left, [], 'items are lost');
      assert.deepEqual(
        await Promise.all(added.map(({ ended }) => ended)),
        added.map(({ at: { n } }) => (failed.has(n) ? 'failed' : n * 10)),
      );
      for (const [key, order] of written) {
        const came = added.filter(({ at }) => at.key === key).map(({ at: { n } }) => n);
        assert.deepEqual(order, came);
      }
    }),
    { numRuns: 500 },
  );
});

type Writers = ReturnType<typeof heldWriters>;
type Write = Writers['writes'][number];

/** Tracks open writes. */
function watch({ keyOf, ...writers }: Writers['writers'], writes: Write[], open: Set<Write>) {
  const watching = (write: (items: Item[]) => Promise<number[]>) => (items: Item[]) => {
    const ended = write(items);
    open.add(writes.at(-1)!);
    return ended;
  };
  return {
    keyOf,
    write: watching(writers.write),
    writeKey: watching(writers.writeKey),
  };
}

/** Asserts the limits: no key in two batches at once, and neither too many nor too large batches. */
function assertBounded(
  open: Write[],
  { maxItems, concurrency }: { maxItems: number; concurrency: number },
) {
  const keys = open.flatMap(({ items }) => [...new Set(items.map(({ key }) => key))]);
  assert.equal(new Set(keys).size, keys.length, 'a key is in two batches');
  assert.ok(open.filter(({ own }) => !own).length <= concurrency, 'too many batches');
  for (const { items } of open) assert.ok(items.length <= maxItems, 'a batch is too large');
}

/** Asserts that flushed items are being written, unless all batches are in use. */
function assertGoesOn(
  key: string,
  open: Write[],
  { unsaved, concurrency }: { unsaved: Map<string, number>; concurrency: number },
) {
  if ((unsaved.get(key) ?? 0) === 0) return;
  const isFull = open.filter(({ own }) => !own).length === concurrency;
  const isWritten = open.some(({ items }) => items.some((each) => each.key === key));
  assert.ok(isWritten || isFull, `${key} waits for a batch that it is not in`);
}

test('a failed batch rejects its items, and the next one is written', async () => {
  let fails = true;
  const write = async (items: number[]) => {
    if (fails) throw new Error('away');
    return items;
  };
  const { add } = createBatch({ write }, { maxItems: 10 });
  await assert.rejects(Promise.all([add(1), add(2)]), /away/);
  fails = false;
  assert.equal(await add(3), 3);
});
