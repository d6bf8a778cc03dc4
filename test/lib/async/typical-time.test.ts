import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTypicalTime } from '../../../src/lib/async/typical-time.ts';

test('the time that work takes at most follows its mean and how much it varies', () => {
  const time = createTypicalTime();
  const estimates = [20, 20, 100, 0].map((ms) => {
    time.add(ms);
    return time.ms();
  });
  assert.equal(createTypicalTime().ms(), 0);
  assert.deepEqual(estimates, [60, 50, 132.5, 133.125]);
});
