import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DayChart } from '../../../src/webhooks/screens/webhook.tsx';

const drawn = (...delivered: number[]) =>
  String(
    DayChart({
      days: delivered.map((count, at) => ({
        day: `2026-01-0${at + 1}`,
        delivered: count,
        failed: 0,
        skipped: 0,
      })),
    }),
  );

const tops: [most: number, top: number][] = [
  [0, 1],
  [1, 1],
  [2, 2],
  [3, 5],
  [5, 5],
  [6, 10],
  [9, 10],
  [10, 10],
  [11, 20],
  [50, 50],
  [51, 100],
  [1000, 1000],
];
for (const [most, top] of tops) {
  test(`the axis for up to ${most} deliveries ends at ${top}`, () => {
    assert.ok(drawn(0, most).includes(`<span>${top}</span><span>0</span>`));
  });
}

test('the chart starts with the oldest day, the table with the newest', () => {
  const days = [...drawn(1, 2, 3).matchAll(/<t[dh][^>]*>(\d Jan)<|<title>(\d Jan):/g)];
  assert.deepEqual(
    days.map(([, inTable, inChart]) => inTable ?? inChart),
    ['1 Jan', '2 Jan', '3 Jan', '3 Jan', '2 Jan', '1 Jan'],
  );
});
