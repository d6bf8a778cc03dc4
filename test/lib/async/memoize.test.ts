import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLatest, memoize } from '../../../src/lib/async/memoize.ts';

test('of values by key those that were asked for last are kept, however many come', () => {
  const latest = createLatest<number>(3);
  for (const [at, key] of ['often', 'b', 'c'].entries()) assert.equal(latest.set(key, at), at);
  for (let n = 0; n < 10; n++) {
    assert.equal(latest.get('often'), 0);
    latest.set(`once ${n}`, n);
  }
  assert.deepEqual(
    ['b', 'c', 'once 7', 'once 8', 'once 9', 'often'].map((key) => latest.get(key)),
    [undefined, undefined, undefined, 8, 9, 0],
  );
  latest.set('often', 5);
  assert.equal(latest.get('often'), 5);
  latest.clear();
  assert.equal(latest.get('often'), undefined);
});

test('a function that is memoized is called once for each of its latest arguments', () => {
  let calls = 0;
  const double = memoize(2, ({ of }: { of: number }) => {
    calls += 1;
    return of * 2;
  });
  assert.deepEqual(
    [1, 2, 1, 2, 1].map((of) => double({ of })),
    [2, 4, 2, 4, 2],
  );
  assert.equal(calls, 2);
  assert.equal(double({ of: 3 }), 6);
  double({ of: 1 });
  assert.equal(calls, 3);
  double({ of: 2 });
  assert.equal(calls, 4);
  double.clear();
  double({ of: 2 });
  assert.equal(calls, 5);
});
