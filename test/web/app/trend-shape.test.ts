import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shapeTrend } from '../../../src/web/app/trend-chart.tsx';

const nps = { lowest: -100, highest: 100 };
const point = (value: number | null, margin: number | null = null) => ({ value, margin });
const ticksOf = (values: [number, number][], bounds = nps) =>
  shapeTrend(
    values.map(([value, margin]) => point(value, margin)),
    bounds,
  ).ticks.map(({ value }) => value);

test('the scale covers the band in round numbers, and stays on the scale of the score', () => {
  assert.deepEqual(
    ticksOf([
      [35, 30],
      [69, 20],
    ]),
    [100, 50, 0],
  );
  assert.deepEqual(ticksOf([[20, 70]]), [100, 50, 0, -50]);
  assert.deepEqual(
    ticksOf([
      [95, 30],
      [-80, 90],
    ]),
    [100, 50, 0, -50, -100],
  );
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

test('a step without responses breaks the line and its band', () => {
  const { line, band, dots, width } = shapeTrend(
    [point(0, 10), point(20, 10), point(null), point(40, 10), point(50, 10)],
    nps,
  );
  assert.equal(width, 50);
  assert.equal(line.match(/M/g)?.length, 2);
  assert.equal(band.match(/M/g)?.length, 2);
  assert.equal(dots.match(/M/g)?.length, 4);
});

test('the margin of a single response is not known: the band is as high as the drawing', () => {
  const { band } = shapeTrend([point(0, 10), point(20), point(40, 10)], nps);
  assert.equal(band, 'M5,62.5L15,0L25,12.5L25,37.5L15,100L5,87.5Z');
});

test('the band of a step without neighbours is as wide as the step', () => {
  const { band } = shapeTrend([point(null), point(20, 10), point(null)], nps);
  assert.equal(band, 'M10,0L20,0L20,100L10,100Z');
});

test('a point in the middle of the scale is in the middle of the drawing', () => {
  const { line, lastDot } = shapeTrend([point(-100), point(0), point(100)], nps);
  assert.equal(line, 'M5,100L15,50L25,0');
  assert.equal(lastDot, 'M25 0h0');
});

test('places are rounded to two decimals, halves up', () => {
  const { line } = shapeTrend([point(0), point(2 / 3), point(1 / 3), point(10)], {
    lowest: 0,
    highest: 10,
  });
  assert.equal(line, 'M5,100L15,93.33L25,96.67L35,0');
});

test('a single response is drawn on a part of the scale that can be read', () => {
  assert.deepEqual(ticksOf([[-100, 0]]), [-80, -85, -90, -95, -100]);
  assert.deepEqual(ticksOf([[100, 0]]), [100, 95, 90, 85, 80]);
  assert.deepEqual(ticksOf([[3, 0]], { lowest: 1, highest: 5 }), [3.2, 3.1, 3, 2.9, 2.8]);
});

test('equal values still have a scale around them', () => {
  const { ticks, line } = shapeTrend([point(100, 0), point(100, 0)], nps);
  assert.ok(ticks.length >= 2);
  assert.doesNotMatch(line, /NaN/);
});

test('without a step the drawing is as wide as one, with nothing in it', () => {
  const { width, line, band, dots, lastDot } = shapeTrend([], nps);
  assert.deepEqual(
    { width, line, band, dots, lastDot },
    {
      width: 10,
      line: '',
      band: '',
      dots: '',
      lastDot: '',
    },
  );
});

test('sixty points are dots, and of more only the last is', () => {
  const dotsOf = (count: number) =>
    shapeTrend(
      Array.from({ length: count }, () => point(0)),
      nps,
    );
  assert.equal(dotsOf(60).dots.match(/M/g)?.length, 60);
  assert.equal(dotsOf(61).dots, '');
  assert.equal(dotsOf(61).lastDot, 'M605 50h0');
});
