import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NumbersTable, TrendChart } from '../../../src/web/app/trend-chart.tsx';

test('the numbers behind a drawing begin with the newest', () => {
  const steps = ['May', 'June', 'July'].map((name) => ({ name, cells: ['1'] }));
  const table = String(NumbersTable({ caption: 'Trend', columns: [{ head: 'Month' }], steps }));
  assert.deepEqual(table.match(/May|June|July/g), ['July', 'June', 'May']);
});

for (const [count, labels] of [
  [0, []],
  [1, ['1']],
  [2, ['1', '2']],
  [3, ['1', '2', '3']],
  [4, ['1', '2', '4']],
  [5, ['1', '3', '5']],
] as const) {
  test(`below a drawing of ${count} steps stand the first, the middle one and the last`, () => {
    const steps = Array.from({ length: count }, (_, at) => ({
      value: at,
      margin: null,
      label: `${at + 1}`,
      name: 'x',
      cells: [],
      words: 'x',
    }));
    const bounds = { lowest: 0, highest: 10 };
    const words = { id: 'x', title: 'x', description: 'x', caption: 'x' };
    const html = String(TrendChart({ ...words, steps, bounds, formatTick: String, columns: [] }));
    const [, along = ''] = /<div class="along"[^>]*>(.*?)<\/div>/s.exec(html) ?? [];
    assert.deepEqual(along.match(/\d/g) ?? [], labels);
  });
}
