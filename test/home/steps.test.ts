import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasEnough, movingDaysOf, movingSteps } from '../../src/home/steps.ts';
import { addDays } from '../../src/responses/period.ts';

const from = '2026-06-01'; // a Monday and the first of a month
const step = (start: string, promoters: number) => ({
  start,
  promoters,
  passives: 0,
  detractors: 0,
  score_sum: 0,
});

type Interval = Parameters<typeof movingDaysOf>[0]['interval'];

/** Steps of the given number of days from 1 June, with `perDay` promoters each, also on the days before. */
function shown(interval: Interval, length: number, perDay: (day: number) => number) {
  const before = movingDaysOf({ interval }) - 1;
  const days = Array.from({ length: length + before }, (_, at) =>
    step(addDays(from, at - before), perDay(at - before)),
  );
  return movingSteps(days, { interval }).map(
    ({ start, promoters, own }) => `${start} ${promoters} ${own?.promoters}`,
  );
}

for (const [totals, isEnough] of [
  [[10, 10, 10], true],
  [[9, 10, 10], true],
  [[9, 9, 10], false],
  [[0, 0, 0, 12], true],
  [[9, 30], false],
  [[], false],
] as const) {
  test(`steps of ${totals.join(', ') || 'nothing'} ${isEnough ? 'are' : 'are not'} enough`, () =>
    assert.equal(hasEnough(totals.map((total) => step(from, total))), isEnough));
}

test('a moving score has steps of a day, week or month', () => {
  assert.deepEqual(
    shown('day', 3, () => 1),
    ['2026-06-01 30 1', '2026-06-02 30 1', '2026-06-03 30 1'],
  );
  assert.deepEqual(
    shown('week', 35, (day) => (day === 0 || day === 30 ? 1 : 0)),
    ['2026-06-07 1 1', '2026-06-14 1 0', '2026-06-21 1 0', '2026-06-28 1 0', '2026-07-05 1 1'],
  );
  const year = shown('month', 365, (day) => (day % 10 === 0 ? 1 : 0));
  assert.deepEqual([year.length, year.at(-1)], [12, '2027-05-31 9 3']);
});
