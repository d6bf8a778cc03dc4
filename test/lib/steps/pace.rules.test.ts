import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextSize, pauseAfter } from '../../../src/lib/steps/pace.rules.ts';

test('batches grow while they are quick and shrink when one was slow', () => {
  assert.equal(nextSize(1, 10), 2);
  assert.equal(nextSize(8, 70), 8);
  assert.equal(nextSize(8, 150), 8);
  assert.equal(nextSize(8, 300), 4);
  assert.equal(nextSize(1, 3000), 1);
  assert.equal(nextSize(10_000, 1), 10_000);
});

test('between batches Postgres is free for three times as long as a batch took', () => {
  assert.equal(pauseAfter(1), 20);
  assert.equal(pauseAfter(100), 300);
  assert.equal(pauseAfter(60_000), 10_000);
});
