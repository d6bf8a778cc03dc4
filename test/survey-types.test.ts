import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  averageScore,
  type Category,
  categoryOf,
  formatInterval,
  netPromoterScore,
  normalized,
  percentage,
  type SurveyType,
  signedNps,
  surveyTypes,
} from '../src/survey-types.ts';

const d: Category = 'detractor';
const n: Category = 'passive';
const p: Category = 'promoter';

/** For each type: its scores in order, the category of each, and what each is on 0 to 10. */
const table: Record<SurveyType, [score: number, category: Category, normalized: number][]> = {
  nps: [
    [0, d, 0],
    [1, d, 1],
    [2, d, 2],
    [3, d, 3],
    [4, d, 4],
    [5, d, 5],
    [6, d, 6],
    [7, n, 7],
    [8, n, 8],
    [9, p, 9],
    [10, p, 10],
  ],
  csat: [
    [1, d, 0],
    [2, d, 3],
    [3, n, 5],
    [4, p, 8],
    [5, p, 10],
  ],
  star5: [
    [1, d, 0],
    [2, d, 3],
    [3, n, 5],
    [4, p, 8],
    [5, p, 10],
  ],
  ces: [
    [1, d, 0],
    [2, d, 2],
    [3, d, 3],
    [4, n, 5],
    [5, n, 7],
    [6, p, 8],
    [7, p, 10],
  ],
  thumbs: [
    [0, d, 0],
    [1, p, 10],
  ],
};

for (const type of surveyTypes) {
  const rows = table[type];

  for (const [score, category, of10] of rows) {
    test(`${type} ${score} is a ${category}, ${of10} of 10`, () => {
      assert.equal(categoryOf(type, score), category);
      assert.equal(normalized(type, score), of10);
    });
  }
}

const tallies: [why: string, tally: [number, number, number], nps: number | null][] = [
  ['no answers is null, not 0', [0, 0, 0], null],
  ['only passives is a true 0', [0, 4, 0], 0],
  ['as many promoters as detractors is a true 0', [2, 0, 2], 0],
  ['all promoters', [3, 0, 0], 100],
  ['all detractors', [0, 0, 3], -100],
  ['rounds to a whole number', [2, 0, 1], 33],
  ['12.5 rounds to 13', [1, 7, 0], 13],
  ['-12.5 rounds to -13, away from zero', [0, 7, 1], -13],
  ['-0.4 is 0', [0, 249, 1], 0],
];

for (const [why, [promoters, passives, detractors], nps] of tallies) {
  test(`Net Promoter Score: ${why}`, () => {
    assert.equal(netPromoterScore({ promoters, passives, detractors }), nps);
  });
}

const percentages: [part: number, whole: number, percentage: number][] = [
  [0, 0, 0],
  [0, 7, 0],
  [7, 7, 100],
  [1, 3, 33.3],
  [2, 3, 66.7],
  [1, 16, 6.3], // 6.25
  [1, 2000, 0.1], // 0.05
  [207, 20_000, 1], // 1.035, a little less in binary
  [23, 2000, 1.2], // 1.15, a little less in binary
  [1_000_000_000_000, 3_000_000_000_000, 33.3],
];

for (const [part, whole, expected] of percentages) {
  test(`${part} of ${whole} is ${expected} percent`, () => {
    assert.equal(percentage(part, whole), expected);
  });
}

const averages: [sum: number, count: number, average: number | null][] = [
  [0, 0, null],
  [0, 3, 0],
  [10, 3, 3.33],
  [20, 3, 6.67],
  [201, 200, 1.01], // 1.005, which binary would round down
];

for (const [sum, count, expected] of averages) {
  test(`scores that sum up to ${sum} over ${count} answers average ${expected}`, () => {
    assert.equal(averageScore(sum, count), expected);
  });
}

test('both ends of an interval have the same decimals', () => {
  assert.equal(formatInterval('nps', { low: -10, high: 61.8 }), '\u221210.0 to +61.8');
  assert.equal(formatInterval('csat', { low: 50, high: 83.3 }), '50.0% to 83.3%');
  assert.equal(formatInterval('star5', { low: 4, high: 4.25 }), '4.00 to 4.25');
});

test('a Net Promoter Score is read with its sign', () => {
  assert.deepEqual([100, 1, 0, -1, -100].map(signedNps), [
    '+100',
    '+1',
    '0',
    '\u22121',
    '\u2212100',
  ]);
});
