import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInstants } from '../../src/responses/period.ts';
import { edgeTimes, type TrendInterval, trendRows } from '../../src/responses/trend.ts';

const now = new Date('2024-05-10T22:30:00Z');

const rowsOf = (
  interval: TrendInterval,
  from: string | null,
  to: string | null,
  timeZone = 'UTC',
) =>
  trendRows(
    {
      interval,
      timeZone,
      from: from === null ? null : readInstants(from)!,
      to: to === null ? null : readInstants(to)!,
    },
    now,
  );

test('a trend defaults to the 90 days up to today in its zone', () => {
  const { starts, edges } = rowsOf('day', null, null);
  assert.deepEqual([starts.length, starts[0], starts.at(-1)], [90, '2024-02-11', '2024-05-10']);
  assert.deepEqual([edges.length, edges.at(-1)], [91, '2024-05-11']);
  assert.equal(rowsOf('day', null, null, 'Europe/Berlin').starts.at(-1), '2024-05-11');
});

test('weeks begin on Monday, months on the first, within the range', () => {
  assert.deepEqual(rowsOf('week', '2024-05-01', '2024-05-13'), {
    timeZone: 'UTC',
    starts: ['2024-04-29', '2024-05-06', '2024-05-13'],
    edges: ['2024-05-01', '2024-05-06', '2024-05-13', '2024-05-14'],
    from: null,
    to: null,
  });
  const months = rowsOf('month', '2023-12-31', '2024-03-01');
  assert.deepEqual(months.starts, ['2023-12-01', '2024-01-01', '2024-02-01', '2024-03-01']);
  assert.deepEqual(months.edges.at(-1), '2024-03-02');
});

test('a range between instants starts and ends at these instants', () => {
  const { starts, from, to } = rowsOf(
    'day',
    '2024-05-01T23:30:00Z',
    '2024-05-02T22:00:00Z',
    'Europe/Berlin',
  );
  assert.deepEqual(starts, ['2024-05-02', '2024-05-03']);
  assert.deepEqual(from, new Date('2024-05-01T23:30:00Z'));
  assert.deepEqual(to, new Date('2024-05-02T22:00:00.001Z'));
});

test('returns 1,100 rows and refuses one more', () => {
  assert.equal(rowsOf('day', '2021-01-01', '2024-01-05').starts.length, 1_100);
  assert.throws(() => rowsOf('day', '2021-01-01', '2024-01-06'), /at most 1100 rows/);
});

test('rows follow local days, except for an instant at either end', () => {
  const times = (from: string, to: string) =>
    edgeTimes(rowsOf('day', from, to, 'Europe/Berlin')).map((time) => new Date(time).toISOString());
  assert.deepEqual(times('2024-03-30', '2024-03-31'), [
    '2024-03-29T23:00:00.000Z',
    '2024-03-30T23:00:00.000Z',
    '2024-03-31T22:00:00.000Z',
  ]);
  assert.deepEqual(times('2024-03-30T05:00:00Z', '2024-03-31T05:00:00Z'), [
    '2024-03-30T05:00:00.000Z',
    '2024-03-30T23:00:00.000Z',
    '2024-03-31T05:00:00.001Z',
  ]);
  assert.deepEqual(times('2024-03-30T05:00:00Z', '2024-03-30T04:00:00Z'), [
    '2024-03-30T05:00:00.000Z',
    '2024-03-30T05:00:00.000Z',
  ]);
});
