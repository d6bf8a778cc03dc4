import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoize } from '../../../src/lib/async/memoize.ts';

test('memoize caches the results of the latest arguments', () => {
  const calls: number[] = [];
  const double = memoize(2, ({ of }: { of: number }) => {
    calls.push(of);
    return of * 2;
  });
  for (const of of [1, 2, 1, 3, 1, 2]) assert.equal(double({ of }), of * 2);
  assert.deepEqual(calls, [1, 2, 3, 2]);
});
