import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lagAsShown } from '../../../src/lib/metrics/process.ts';

for (const [looked, shown] of [
  [0, 0],
  [0.039, 0],
  [0.05, 0.01],
  [0.051, 0.011],
  [1.04, 1],
] as const) {
  test(`a lag of ${looked} s, with 50 ms between two looks, is shown as ${shown} s`, () => {
    assert.equal(lagAsShown(looked).toFixed(6), shown.toFixed(6));
  });
}
