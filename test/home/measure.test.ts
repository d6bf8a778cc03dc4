import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundsOf, compare, sumOf } from '../../src/home/rules.ts';
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

test('two responses have a margin, on each scale', () => {
  const two = { promoters: 1, passives: 0, detractors: 1, score_sum: 7 };
  assert.deepEqual(measure('thumbs', two, null), { total: 2, value: 50, margin: 69.3 });
  assert.deepEqual(measure('ces', two, 0.5), { total: 2, value: 3.5, margin: 0.98 });
  assert.deepEqual(measure('ces', two, null), { total: 2, value: 3.5, margin: null });
});

test('a number lies between the ends of what it measures', () => {
  const bounds = (['nps', 'csat', 'thumbs', 'ces', 'star5'] as const).map((type) => {
    const { lowest, highest } = boundsOf(type);
    return [lowest, highest];
  });
  assert.deepEqual(bounds, [
    [-100, 100],
    [0, 100],
    [0, 100],
    [1, 7],
    [1, 5],
  ]);
});

test('a change is rounded as its number is, a mean to hundredths and all else to tenths', () => {
  const change = (type: 'star5' | 'csat', by: number) =>
    compare(type, sure(3 + by, 0.011), sure(3, 0.02));
  assert.deepEqual(change('star5', 0.126), { by: 0.13, margin: 0.02, meaning: 'better' });
  assert.deepEqual(change('star5', -0.03), { by: -0.03, margin: 0.02, meaning: 'worse' });
  assert.deepEqual(change('csat', 0.26), { by: 0.3, margin: 0, meaning: 'better' });
  assert.deepEqual(change('csat', 0.04), { by: 0, margin: 0, meaning: 'none' });
});

test('without a margin on either side a change is that of few responses', () => {
  const unsure: Measured = { value: 40, margin: null, total: 50 };
  const few = { by: -4, margin: 0, meaning: 'few' };
  assert.deepEqual(compare('nps', unsure, sure(44, 7)), few);
  assert.deepEqual(compare('nps', sure(40, 7), { ...unsure, value: 44 }), few);
  assert.equal(compare('nps', { ...unsure, value: null }, sure(44, 7)), null);
});

test('steps add up to their period, figure by figure', () => {
  const step = { promoters: 1, passives: 20, detractors: 300, score_sum: 4000 };
  assert.deepEqual(sumOf([step, step]), {
    promoters: 2,
    passives: 40,
    detractors: 600,
    score_sum: 8000,
  });
  assert.deepEqual(sumOf([]), { promoters: 0, passives: 0, detractors: 0, score_sum: 0 });
});
