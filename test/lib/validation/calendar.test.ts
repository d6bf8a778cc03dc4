import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInCalendar } from '../../../src/lib/validation/parse.ts';

const texts: [text: string, exists: boolean][] = [
  ['2024-02-29', true],
  ['2023-02-29', false],
  ['2024-02-30T12:00:00Z', false],
  ['2024-04-31', false],
  ['2024-01-31T23:59:59.999999+23:59', true],
  ['2024-01-31T25:00:00Z', false],
  ['0000-12-31', false],
  ['0001-01-01T00:00:00Z', false],
  ['0001-01-02', true],
  ['0001-01-02T00:00:00+00:01', false],
  ['9999-12-30', true],
  ['9999-12-30T00:00:00-00:01', false],
  ['9999-12-31', false],
  ['+010000-01-01', false],
  ['now', false],
  ['', false],
];
for (const [text, exists] of texts) {
  test(`${JSON.stringify(text)} ${exists ? 'exists' : 'does not exist'}, as Postgres sees it`, () =>
    assert.equal(isInCalendar(text), exists));
}
