import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measure } from '../../src/home/rules.ts';
import { formatMargin, formatValue } from '../../src/home/score.tsx';
import type { SurveyType } from '../../src/scores.ts';
import { distribution, figureOfScores, totalsOf } from '../../src/surveys/screens/parts.tsx';

const given: Record<SurveyType, [score: number, count: number][]> = {
  nps: [
    [10, 7],
    [8, 3],
    [2, 4],
  ],
  csat: [
    [5, 9],
    [3, 2],
    [1, 4],
  ],
  ces: [
    [7, 2],
    [4, 1],
    [1, 3],
  ],
  star5: [
    [5, 2],
    [4, 4],
    [1, 1],
  ],
  thumbs: [
    [1, 5],
    [0, 4],
  ],
};

for (const [type, counts] of Object.entries(given) as [SurveyType, [number, number][]][]) {
  test(`the page of a survey says of ${type} what Home says, also how sure it is`, () => {
    const scores = counts.map(([score, count]) => ({ score, count }));
    const each = counts.flatMap(([score, count]) => Array<number>(count).fill(score));
    const scoreSum = each.reduce((sum, score) => sum + score, 0);
    const mean = scoreSum / each.length;
    const squares = each.reduce((sum, score) => sum + (score - mean) ** 2, 0);
    const counted = { ...totalsOf(type, scores), scoreSum };
    const { value, margin } = measure(type, counted, squares / (each.length - 1));
    const figure = figureOfScores(type, scores);
    assert.equal(figure.value, formatValue(type, value!));
    assert.equal(figure.margin, formatMargin(type, margin!));
  });
}

test('two answers have a margin, and one has none', () => {
  const margin = (...scores: number[]) =>
    figureOfScores(
      'star5',
      scores.map((score) => ({ score, count: 1 })),
    ).margin;
  assert.deepEqual([margin(4), margin(4, 5)], [null, '± 0.98']);
});

test('every figure has its name, and none without answers', () => {
  const named = (['nps', 'csat', 'ces', 'star5', 'thumbs'] as const).map((type) =>
    figureOfScores(type, []),
  );
  assert.deepEqual(named, [
    { title: 'Net Promoter Score', value: null, margin: null },
    { title: 'Satisfied, 4 or 5', value: null, margin: null },
    { title: 'Mean effort score, of 7', value: null, margin: null },
    { title: 'Mean of 5 stars', value: null, margin: null },
    { title: 'Thumbs up', value: null, margin: null },
  ]);
});

test('every score of a scale has its row, the highest first, also one without an answer', () => {
  const rows = distribution('star5', [
    { score: 5, count: 3 },
    { score: 2, count: 1 },
  ]);
  assert.deepEqual(
    rows.map(({ score, count, share, category }) => `${score} ${count} ${share} ${category}`),
    ['5 3 75 promoter', '4 0 0 promoter', '3 0 0 passive', '2 1 25 detractor', '1 0 0 detractor'],
  );
});
