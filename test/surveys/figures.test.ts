import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distribution, measureScores } from '../../src/surveys/screens/parts.tsx';

test('the interval of a mean depends on the spread of its scores', () => {
  const of = (...scores: number[]) =>
    measureScores(
      'star5',
      scores.map((score) => ({ score, count: 1 })),
    ).interval;
  // 4 -+ 4.303 x sqrt(1 / 3)
  assert.deepEqual([of(), of(4), of(3, 4, 5)], [null, null, { low: 1.52, high: 5 }]);
});

test('the distribution lists every score, highest first', () => {
  const rows = distribution('star5', [
    { score: 5, count: 3 },
    { score: 2, count: 1 },
  ]);
  assert.deepEqual(
    rows.map(({ score, count, share }) => `${score} ${count} ${share}`),
    ['5 3 75', '4 0 0', '3 0 0', '2 1 25', '1 0 0'],
  );
});
