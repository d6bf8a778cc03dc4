import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NumbersTable } from '../../../src/web/app/charts/trend-chart.tsx';

test('the numbers behind a drawing begin with the newest', () => {
  const steps = ['May', 'June', 'July'].map((name) => ({ name, cells: ['1'] }));
  const table = String(NumbersTable({ caption: 'Trend', columns: [{ head: 'Month' }], steps }));
  assert.deepEqual(table.match(/May|June|July/g), ['July', 'June', 'May']);
});
