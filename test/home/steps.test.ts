import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasEnough, longerSteps, movingDays } from '../../src/home/steps.ts';
import { addDays } from '../../src/responses/period.ts';

const from = '2026-06-01'; // a Monday and the first of a month
const step = (start: string, promoters: number) => ({
  start,
  promoters,
  passives: 0,
  detractors: 0,
  score_sum: 0,
});

/** The given number of days from 1 June and the 29 days before, with `perDay` promoters each. */
const daysOf = (length: number, perDay: (day: number) => number) =>
  Array.from({ length: length + movingDays - 1 }, (_, at) => {
    const day = at - movingDays + 1;
    return step(addDays(from, day), perDay(day));
  });

const shownBy = (
  length: number,
  interval: 'day' | 'week' | 'month',
  perDay: (day: number) => number,
) => {
  const { by, steps } = longerSteps(daysOf(length, perDay), { interval, days: length });
  return [by, ...steps.map(({ start, promoters }) => `${start} ${promoters}`)];
};

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

test('a trend with few responses has steps of a week or a month', () => {
  assert.deepEqual(
    shownBy(28, 'day', () => 2),
    ['week', '2026-06-01 14', '2026-06-08 14', '2026-06-15 14', '2026-06-22 14'],
  );
  assert.deepEqual(
    shownBy(91, 'week', () => 1),
    ['month', '2026-06-01 30', '2026-07-01 31', '2026-08-01 30'],
  );
});

test('a trend is a 30-day score when no step has enough responses', () => {
  assert.deepEqual(
    shownBy(3, 'day', () => 1),
    ['moving', '2026-06-01 30', '2026-06-02 30', '2026-06-03 30'],
  );
  assert.deepEqual(
    shownBy(35, 'week', (day) => (day === 0 || day === 30 ? 1 : 0)),
    ['moving', '2026-06-07 1', '2026-06-14 1', '2026-06-21 1', '2026-06-28 1', '2026-07-05 1'],
  );
  const [by, ...months] = shownBy(365, 'month', (day) => (day % 10 === 0 ? 1 : 0));
  assert.deepEqual([by, months.length, months.at(-1)], ['moving', 53, '2027-05-31 3']);
});
