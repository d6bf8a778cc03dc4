import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { estimateMean, estimateShare, intervalOf, studentT } from '../src/intervals.ts';
import { measure, npsInterval, surveyTypes } from '../src/survey-types.ts';

const populations = [
  [90, 8, 2],
  [80, 15, 5],
  [60, 25, 15],
  [34, 33, 33],
] as const;
const sizes = [5, 10, 20, 50];

/** Every possible sample of n responses with its probability. */
function* samplesOf([promoter, passive, detractor]: readonly number[], n: number) {
  for (let p = 0; p <= n; p++) {
    for (let d = 0; p + d <= n; d++) {
      const orders = choose(n, p) * choose(n - p, d);
      const likely = (promoter! / 100) ** p * (detractor! / 100) ** d;
      const rest = n - p - d;
      yield {
        tally: { promoters: p, passives: rest, detractors: d },
        likely: orders * likely * (passive! / 100) ** rest,
      };
    }
  }
}

const choose = (n: number, k: number): number =>
  k === 0 ? 1 : (choose(n, k - 1) * (n - k + 1)) / k;

function coverage(population: readonly number[], n: number): number {
  const nps = population[0]! - population[2]!;
  let covered = 0;
  for (const { tally, likely } of samplesOf(population, n)) {
    const { low, high } = npsInterval(tally).interval!;
    if (low <= nps && nps <= high) covered += likely;
  }
  return 100 * covered;
}

test('an NPS interval contains the true score in at least 91 % of samples', () => {
  const rows = populations.map((population) => {
    const cells = sizes.map((n) => coverage(population, n));
    for (const cell of cells) assert.ok(cell >= 91, `${population}: ${cells}`);
    return `| ${population.join('/')} | ${cells.map((cell) => `${cell.toFixed(1)} %`).join(' | ')} |`;
  });
  assert.ok(readFileSync('ops/numbers.md', 'utf8').includes(rows.join('\n')), rows.join('\n'));
});

for (const [promoters, passives, detractors, margin, low, high] of [
  [1, 0, 0, 73.5, -48.5, 98.5],
  [0, 0, 1, 73.5, -98.5, 48.5],
  [1, 0, 1, 73.3, -73.3, 73.3],
  [2, 0, 0, 62.2, -24.4, 100],
  [60, 25, 15, 14.4, 29.3, 58],
  [500, 300, 200, 4.8, 25.1, 34.7],
  [20_000, 0, 0, 0.1, 99.9, 100],
  [0, 20_000, 0, 0.1, 0, 0.1],
  [0, 0, 20_000, 0.1, -100, -99.9],
] as const) {
  test(`the NPS of ${promoters}/${passives}/${detractors} is ${low} to ${high}`, () => {
    assert.deepEqual(npsInterval({ promoters, passives, detractors }), {
      margin_of_error: margin,
      interval: { low, high },
    });
  });
}

test('a share has the interval of Agresti and Coull', () => {
  const of = (part: number, whole: number) =>
    intervalOf(estimateShare(part, whole), { lowest: 0, highest: 100 }, 1);
  assert.deepEqual(of(60, 100), { low: 50.2, high: 69.1 });
  assert.deepEqual(of(1, 1), { low: 16.7, high: 100 });
  assert.deepEqual(of(20_000, 20_000), { low: 99.9, high: 100 });
});

/** From a published table of Student's t. */
for (const [freedom, t] of [
  [1, 12.706],
  [2, 4.303],
  [9, 2.262],
  [10, 2.228],
  [11, 2.201],
  [12, 2.179],
  [20, 2.086],
  [30, 2.042],
  [120, 1.98],
  [100_000, 1.96],
] as const) {
  test(`Student's t of ${freedom} degrees of freedom is ${t}`, () =>
    assert.equal(studentT(freedom).toFixed(3), t.toFixed(3)));
}

test('a mean has an interval only if its scores vary', () => {
  const mean = (responses: number, variance: number | null, scores = responses) =>
    estimateMean({ mean: 4, responses, variance, scores });
  // 12.706 x sqrt(0.5 / 2)
  assert.deepEqual(mean(2, 0.5), { center: 4, half: 6.353 });
  assert.ok(mean(2, 0.5, 100)!.half < 1);
  assert.deepEqual([mean(1, 0.5), mean(5, 0), mean(5, null)], [null, null, null]);
});

test('an interval has a width, and needs responses', () => {
  for (const type of surveyTypes) {
    for (const n of [1, 2, 10, 1_000_000]) {
      const all = { promoters: n, passives: 0, detractors: 0, score_sum: n };
      const { interval } = measure(type, all, 0.5);
      assert.ok(interval === null ? n === 1 : interval.low < interval.high, `${type} ${n}`);
    }
    const none = { promoters: 0, passives: 0, detractors: 0, score_sum: 0 };
    const nothing = { total: 0, value: null, interval: null, estimate: null };
    assert.deepEqual(measure(type, none, null), nothing);
  }
});
