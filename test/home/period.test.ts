import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choosePeriod, type HomePeriod, isDay, type PeriodQuery } from '../../src/home/rules.ts';
import { addDays } from '../../src/responses/period.ts';

const today = '2026-11-22';
const choose = (asked: PeriodQuery) => choosePeriod(asked, today);

test('a period ends today and has an equally long previous period', () => {
  assert.deepEqual(choose({ period: '7d' }), {
    name: '7d',
    from: '2026-11-16',
    to: today,
    days: 7,
    interval: 'day',
    before: { from: '2026-11-09', to: '2026-11-15' },
  });
});

test('an unknown or missing period means 90 days by week', () => {
  for (const asked of [{}, { period: '12d' }, { period: 'constructor' }]) {
    const { name, from, interval } = choose(asked) as {
      name: string;
      from: string;
      interval: string;
    };
    assert.deepEqual([name, from, interval], ['90d', '2026-08-25', 'week']);
  }
});

test('dates override a period, and the end defaults to today', () => {
  const given = choose({ period: '7d', date_from: '2026-01-01', date_to: '2026-12-31' });
  assert.deepEqual(given, {
    name: 'custom',
    from: '2026-01-01',
    to: '2026-12-31',
    days: 365,
    interval: 'month',
    before: { from: '2025-01-01', to: '2025-12-31' },
  });
  assert.equal((choose({ date_from: '2026-11-22' }) as { days: number }).days, 1);
});

test('invalid dates are reported on their field', () => {
  for (const [asked, field] of [
    [{ date_from: '2026-02-30' }, 'date_from'],
    [{ date_to: '2026-02-03' }, 'date_from'],
    [{ date_from: '2026-01-01', date_to: 'soon' }, 'date_to'],
    [{ date_from: '2026-05-02', date_to: '2026-05-01' }, 'date_to'],
    [{ date_from: '2020-01-01' }, 'date_from'],
    [{ date_from: '0001-01-01', date_to: '0001-01-02' }, 'date_from'],
  ] as const) {
    const chosen = choose(asked) as { errors?: object };
    assert.deepEqual(Object.keys(chosen.errors ?? {}), [field], JSON.stringify(asked));
  }
});

test('periods are shown by day up to 31 days, by week up to 200', () => {
  const from = (days: number) => addDays(today, 1 - days);
  const shown = [31, 32, 200, 201, 1095].map((days) => {
    const period = choose({ date_from: from(days) }) as HomePeriod;
    assert.equal(period.days, days);
    return period.interval;
  });
  assert.deepEqual(shown, ['day', 'week', 'week', 'month', 'month']);
  assert.deepEqual(choose({ date_from: from(1096) }), {
    errors: { date_from: 'Choose a period of at most three years.' },
  });
});

test('accepts calendar days from 1990 to 2998', () => {
  for (const day of ['1990-01-01', '2024-02-29', '2998-12-31']) assert.ok(isDay(day), day);
  for (const day of [
    '1989-12-31',
    '2999-01-01',
    '2026-02-29',
    '2026-13-01',
    '2026-1-01',
    ' 2026-01-01',
  ])
    assert.ok(!isDay(day), day);
});
