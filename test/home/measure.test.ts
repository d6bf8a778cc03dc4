import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AskedPart, describeChange } from '../../src/home/score.tsx';
import { compare, measure, type SurveyType } from '../../src/survey-types.ts';

const counted = { promoters: 60, passives: 20, detractors: 20, score_sum: 420 };
const figuresOf = (type: SurveyType, variance: number | null) => {
  const { value, interval } = measure(type, counted, variance);
  return [value, interval?.low, interval?.high];
};

test('each scale has its number and interval', () => {
  assert.deepEqual(figuresOf('nps', null), [40, 23.4, 54.3]);
  assert.deepEqual(figuresOf('csat', null), [60, 50.2, 69.1]);
  // 4.2 -+ 1.984 x sqrt(1.44 / 100)
  assert.deepEqual(figuresOf('star5', 1.44), [4.2, 3.96, 4.44]);
});

type Categories = readonly [promoters: number, passives: number, detractors: number];
const nps = ([promoters, passives, detractors]: Categories) =>
  measure('nps', { promoters, passives, detractors, score_sum: 0 }, null);

for (const [now, before, meaning] of [
  [[60, 20, 20], [45, 30, 25], 'chance'],
  [[60, 20, 20], [40, 30, 30], 'better'],
  [[40, 30, 30], [60, 20, 20], 'worse'],
  [[60, 20, 20], [60, 20, 20], 'none'],
  [[5, 0, 0], [0, 0, 5], 'better'],
  [[3, 0, 0], [0, 0, 1], 'chance'],
  [[1, 0, 0], [9900, 100, 0], 'chance'],
] as const) {
  test(`NPS of ${now.join('/')} after ${before.join('/')} is ${meaning}`, () =>
    assert.equal(compare('nps', nps(now), nps(before))?.meaning, meaning));
}

test('a change needs two numbers and is unknown without an interval', () => {
  assert.equal(compare('nps', nps([5, 0, 0]), nps([0, 0, 0])), null);
  const stars = (total: number, mean: number, variance: number | null) =>
    measure(
      'star5',
      { promoters: total, passives: 0, detractors: 0, score_sum: total * mean },
      variance,
    );
  const unknown = { by: 1, interval: null, meaning: 'unknown' };
  assert.deepEqual(compare('star5', stars(50, 5, 0), stars(50, 4, 0.5)), unknown);
  const change = compare('star5', stars(100, 4.126, 1), stars(100, 4, 1));
  assert.deepEqual(change, { by: 0.13, interval: { low: -0.15, high: 0.41 }, meaning: 'chance' });
});

test('the sentence matches the figures', () => {
  const period = { name: '90d', days: 90, interval: 'week', from: '', to: '' } as const;
  const say = (one: Categories, other: Categories) => {
    const [now, before] = [nps(one), nps(other)];
    const change = compare('nps', now, before);
    const of = { ...period, before: { from: '', to: '' } };
    const { lead, rest } = describeChange({ type: 'nps', change, before, period: of });
    return lead + rest;
  };
  assert.equal(
    say([60, 20, 20], [45, 30, 25]),
    'Up 20 points from +20 in the 90 days before. No clear change: the difference is within the margin of error.',
  );
  assert.equal(
    say([60, 20, 20], [40, 30, 30]),
    'Up 30 points from +10 in the 90 days before. A real improvement: +6.9 to +51.4 (95% interval).',
  );
  assert.equal(say([60, 20, 20], [60, 20, 20]), 'Unchanged from +40 in the 90 days before.');
  assert.equal(say([60, 20, 20], [0, 0, 0]), 'No earlier responses to compare with.');
});

test('the response rate names a change only beyond its margin', () => {
  const rate = (answered: number, before: number, settled = { asked: 1_000, answered }) => {
    const counts = { asked: 1_000, arrived: 1_000, answered, settled };
    const asked = { ...counts, before: { asked: before, answered: 300 } };
    const html = String(AskedPart({ asked, period: { days: 90 } }));
    const texts = [...html.matchAll(/<p class="sub">(.*?)<\/p>/g)].map(([, text]) => text);
    return texts.join(' ').replaceAll(/<[^>]*>/g, '');
  };
  assert.equal(rate(400, 1_000), 'Up 10 points from 30% in the 90 days before.');
  assert.equal(rate(310, 1_000), 'No clear change from 30% in the 90 days before.');
  assert.equal(rate(310, 0), '');
  assert.match(rate(200, 1_000, { asked: 500, answered: 155 }), /^No clear change .*\(31% in this/);
  assert.match(
    rate(50, 1_000, { asked: 0, answered: 0 }),
    /^Not compared, because people had less/,
  );
});
