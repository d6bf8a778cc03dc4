import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AskedPeriod, choosePeriod } from '../../src/home/period.rules.ts';

const today = '2026-11-22';
const choose = (asked: AskedPeriod) => choosePeriod(asked, today);

test('a period ends today and has as many days before it', () => {
  assert.deepEqual(choose({ period: '7d' }), {
    ...{ name: '7d', from: '2026-11-16', to: today, days: 7, interval: 'day' },
    before: { from: '2026-11-09', to: '2026-11-15' },
  });
});

test('without a period, or with an unknown one, it is 90 days by week', () => {
  for (const asked of [{}, { period: '12d' }, { period: 'constructor' }]) {
    const { name, from, interval } = choose(asked) as {
      name: string;
      from: string;
      interval: string;
    };
    assert.deepEqual([name, from, interval], ['90d', '2026-08-25', 'week']);
  }
});

test('dates win over a period; without a last day it is today', () => {
  const given = choose({ period: '7d', date_from: '2026-01-01', date_to: '2026-12-31' });
  assert.deepEqual(given, {
    ...{ name: 'custom', from: '2026-01-01', to: '2026-12-31', days: 365, interval: 'month' },
    before: { from: '2025-01-01', to: '2025-12-31' },
  });
  assert.equal((choose({ date_from: '2026-11-22' }) as { days: number }).days, 1);
});

test('dates that cannot be are a mistake at their field', () => {
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
