import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare } from '../../src/home/rules.ts';
import { meaning } from '../../src/home/score.tsx';
import { type Measured, measure } from '../../src/survey-types.ts';

const counted = { promoters: 60, passives: 20, detractors: 20, score_sum: 420 };

test('each scale has its number and its margin', () => {
  assert.deepEqual(measure('nps', counted, null), { total: 100, value: 40, margin: 15.7 });
  // 1.96 x sqrt(0.6 x 0.4 / 100)
  assert.deepEqual(measure('csat', counted, null), { total: 100, value: 60, margin: 9.6 });
  // 1.96 x sqrt(1.44 / 100)
  assert.deepEqual(measure('star5', counted, 1.44), { total: 100, value: 4.2, margin: 0.24 });
});

test('without responses there is no number, and one response has no margin', () => {
  const none = { promoters: 0, passives: 0, detractors: 0, score_sum: 0 };
  for (const type of ['nps', 'csat', 'star5', 'ces', 'thumbs'] as const) {
    assert.deepEqual(measure(type, none, null), { total: 0, value: null, margin: null });
    const one = measure(type, { ...none, promoters: 1, score_sum: 1 }, null);
    assert.equal(one.margin, null, type);
  }
});

const sure = (value: number, margin: number, total = 100): Measured => ({ value, margin, total });

test('a change is called one only beyond its own margin and with 30 responses on both sides', () => {
  for (const [now, before, meaning] of [
    [sure(51, 7), sure(44, 7), 'chance'],
    [sure(53.9, 7), sure(44, 7), 'chance'],
    [sure(54, 7), sure(44, 7), 'better'],
    [sure(54, 7), sure(44, 7), 'better'],
    [sure(34, 7), sure(44, 7), 'worse'],
    [sure(44, 7), sure(44, 7), 'none'],
    [sure(90, 7, 29), sure(44, 7), 'few'],
    [sure(90, 7), sure(44, 7, 29), 'few'],
    [sure(90, 7, 30), sure(44, 7, 30), 'better'],
    [{ value: 100, margin: null, total: 1 }, sure(44, 7), 'few'],
  ] as const) {
    assert.equal(compare('nps', now, before)?.meaning, meaning, `${now.value} ${before.value}`);
  }
  assert.equal(compare('nps', sure(51, 7), { value: null, margin: null, total: 0 }), null);
});

test('the sentence says no more than the figures', () => {
  const period = { name: '90d', days: 90, interval: 'week', from: '', to: '' } as const;
  const say = (now: Measured, before: Measured) => {
    const change = compare('nps', now, before);
    const { lead, rest } = meaning({
      type: 'nps',
      change,
      now,
      before,
      period: { ...period, before: { from: '', to: '' } },
    });
    return lead + rest;
  };
  assert.equal(
    say(sure(51, 7), sure(44, 6)),
    'Up 7 points from +44 in the 90 days before. The change is within its margin of error (± 9.2), so it may be chance.',
  );
  assert.equal(
    say(sure(-50, 9, 12), sure(-49, 7)),
    'Down 1 point from −49 in the 90 days before. 12 responses: too few to call this a change.',
  );
  assert.match(say(sure(-50, 9), sure(-49, 7, 13)), /13 responses: too few/);
  assert.equal(
    say(sure(51, 7), { value: null, margin: null, total: 0 }),
    'There are no responses in the 90 days before to compare with.',
  );
});

test('a change is rounded as its number is, a mean to hundredths and all else to tenths', () => {
  const change = (type: 'star5' | 'csat', by: number) =>
    compare(type, sure(3 + by, 0.011), sure(3, 0.02));
  assert.deepEqual(change('star5', 0.126), { by: 0.13, margin: 0.02, meaning: 'better' });
  assert.deepEqual(change('star5', -0.03), { by: -0.03, margin: 0.02, meaning: 'worse' });
  assert.deepEqual(change('csat', 0.26), { by: 0.3, margin: 0, meaning: 'better' });
  assert.deepEqual(change('csat', 0.04), { by: 0, margin: 0, meaning: 'none' });
});
