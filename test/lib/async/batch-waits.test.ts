import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBatch } from '../../../src/lib/async/batch.ts';

/** Items come by their keys, `+20` is a time that passes, `end` the end of the oldest write; a batch holds two items. */
const waits: { fact: string; steps: string; written: string[] }[] = [
  { fact: 'an item alone waits', steps: 'a +19', written: [] },
  { fact: 'an item alone is written after its time', steps: 'a +20', written: ['a0'] },
  { fact: 'as many as a batch holds do not wait', steps: 'a b', written: ['a0 b1'] },
  {
    fact: 'a time that a full batch did not need is over',
    steps: 'a b end +20 c',
    written: ['a0 b1'],
  },
  { fact: 'a flush of one key writes all keys', steps: 'a flush:a', written: ['a0'] },
  { fact: 'a flush of a key without items is none', steps: 'a flush:b', written: [] },
  {
    fact: 'a flush of a key that is written is none',
    steps: 'a flush:a end flush:a b',
    written: ['a0'],
  },
  { fact: 'an empty flush does not hasten later items', steps: 'flush:a a', written: [] },
  {
    fact: 'a flush while the key is written hastens no later items',
    steps: 'a flush:a flush:a a end',
    written: ['a0'],
  },
  {
    fact: 'what comes while its key is written waits its own time',
    steps: 'a flush:a a end +19',
    written: ['a0'],
  },
  {
    fact: 'what comes while its key is written is written after its own time',
    steps: 'a flush:a a end +20',
    written: ['a0', 'a2'],
  },
  {
    fact: 'a time that ends while the key is written is kept for its end',
    steps: 'a flush:a a +20 end',
    written: ['a0', 'a2'],
  },
  {
    fact: 'a flush while the key is written is kept for its end',
    steps: 'a flush:a a flush:a end',
    written: ['a0', 'a2'],
  },
  {
    fact: 'a time that ends while another key is written does not hasten this one',
    steps: 'a flush:a +20 b end',
    written: ['a0'],
  },
  {
    fact: 'what a full batch leaves does not wait again',
    steps: 'b b a a a end end',
    written: ['b0 b1', 'a2 a3', 'a4'],
  },
  {
    fact: 'a key that has no room in a batch is not held by it',
    steps: 'b b a c d end end',
    written: ['b0 b1', 'a2 c3'],
  },
];

for (const { fact, steps, written } of waits) {
  test(fact, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const writes: { items: string; end: () => void }[] = [];
    const write = (items: string[]) =>
      new Promise<string[]>((end) =>
        writes.push({ items: items.join(' '), end: () => end(items) }),
      );
    const { add, flush } = createBatch(
      { keyOf: (item: string) => item.charAt(0), write: write, writeOwn: write },
      { most: 2, atOnce: 1, lingerMs: 20 },
    );
    let ended = 0;
    for (const [n, step] of steps.split(' ').entries()) {
      if (step.startsWith('+')) t.mock.timers.tick(Number(step));
      else if (step.startsWith('flush:')) flush(step.slice('flush:'.length));
      else if (step === 'end') writes[ended++]!.end();
      else void add(step + n);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(
      writes.map(({ items }) => items),
      written,
    );
  });
}
