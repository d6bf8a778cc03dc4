import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shapeTrend, TrendChart } from '../../../src/web/app/trend-chart.tsx';

for (const [count, labels] of [
  [0, []],
  [1, ['1']],
  [2, ['1', '2']],
  [3, ['1', '2', '3']],
  [4, ['1', '2', '4']],
  [5, ['1', '3', '5']],
] as const) {
  test(`a chart of ${count} steps has labels for the first, middle and last`, () => {
    const steps = Array.from({ length: count }, (_, at) => ({
      value: at,
      interval: null,
      label: `${at + 1}`,
      name: 'x',
      cells: [],
      tip: ['x'] as const,
      parts: [],
    }));
    const bounds = { lowest: 0, highest: 10 };
    const words = { title: 'x', description: 'x', caption: 'x' };
    const html = String(
      TrendChart({ ...words, steps, bounds, formatTick: String, columns: ['Day', 'NPS'] }),
    );
    const [, along = ''] = /<div class="along"[^>]*>(.*?)<\/div>/s.exec(html) ?? [];
    assert.deepEqual(along.match(/\d/g) ?? [], labels);
  });
}

const nps = { lowest: -100, highest: 100 };
const point = (value: number | null, margin: number | null = null) => ({
  value,
  interval:
    value === null || margin === null ? null : { low: value - margin, high: value + margin },
});
const ticksOf = (values: [number, number][], bounds = nps) =>
  shapeTrend(
    values.map(([value, margin]) => point(value, margin)),
    bounds,
  ).ticks.map(({ value }) => value);

test('the axis covers the band in round numbers', () => {
  assert.deepEqual(
    ticksOf([
      [35, 30],
      [69, 20],
    ]),
    [100, 50, 0],
  );
  assert.deepEqual(ticksOf([[20, 70]]), [100, 50, 0, -50]);
  assert.deepEqual(
    ticksOf(
      [
        [4.2, 0.2],
        [4.4, 0.2],
      ],
      { lowest: 1, highest: 5 },
    ),
    [4.6, 4.4, 4.2, 4],
  );
  assert.deepEqual(
    ticksOf(
      [
        [1.5, 0.8],
        [6.9, 0.4],
      ],
      { lowest: 1, highest: 7 },
    ),
    [7, 4, 1],
  );
  assert.deepEqual(ticksOf([]), [100, 0, -100]);
});

test('a step without responses breaks the line and the band', () => {
  const { line, band, points, width } = shapeTrend(
    [point(0, 10), point(20, 10), point(null), point(40, 10), point(50, 10)],
    nps,
  );
  assert.equal(width, 50);
  assert.equal(line.match(/M/g)?.length, 2);
  assert.equal(band.match(/M/g)?.length, 2);
  assert.equal(points.filter(({ value }) => value !== null).length, 4);
});

test('the band is full height without an interval', () => {
  const { band } = shapeTrend([point(0, 10), point(20), point(40, 10)], nps);
  assert.equal(band, 'M5,62.5L15,0L25,12.5L25,37.5L15,100L5,87.5Z');
});

test('the band of an isolated step has the width of the step', () => {
  const { band, points } = shapeTrend([point(null), point(20, 10), point(null)], nps);
  assert.deepEqual(
    points.map(({ isAlone }) => isAlone),
    [false, true, false],
  );
  assert.equal(band, 'M10,0L20,0L20,100L10,100Z');
});

test('a middle value is in the middle of the chart', () => {
  const { line, points } = shapeTrend([point(-100), point(0), point(100)], nps);
  assert.equal(line, 'M5,100L15,50L25,0');
  assert.deepEqual(
    points.map(({ value }) => value),
    [100, 50, 0],
  );
});

test('equal values still get an axis range', () => {
  const { ticks, line } = shapeTrend([point(100, 0), point(100, 0)], nps);
  assert.ok(ticks.length >= 2);
  assert.doesNotMatch(line, /NaN/);
});
