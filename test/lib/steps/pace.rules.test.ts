import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextSize, pauseAfter } from '../../../src/lib/steps/pace.rules.ts';

const sizes: { size: number; ms: number; next: number }[] = [
  { size: 1, ms: 10, next: 2 },
  { size: 8, ms: 49.9, next: 16 },
  { size: 8, ms: 50, next: 8 },
  { size: 8, ms: 200, next: 8 },
  { size: 8, ms: 200.1, next: 4 },
  { size: 3, ms: 300, next: 1 },
  { size: 1, ms: 3000, next: 1 },
  { size: 4999, ms: 1, next: 9998 },
  { size: 5001, ms: 1, next: 10_000 },
  { size: 10_000, ms: 1, next: 10_000 },
];

for (const { size, ms, next } of sizes) {
  test(`after ${size} rows in ${ms} ms come ${next}`, () => {
    assert.equal(nextSize(size, ms), next);
  });
}

test('between batches Postgres is free for three times as long as a batch took', () => {
  assert.equal(pauseAfter(1), 20);
  assert.equal(pauseAfter(7), 21);
  assert.equal(pauseAfter(100), 300);
  assert.equal(pauseAfter(3333), 9999);
  assert.equal(pauseAfter(60_000), 10_000);
});
