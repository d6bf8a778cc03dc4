import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Settings } from '../../src/settings.ts';

const page = readFileSync('ops/configuration.md', 'utf8');

/** Each variable in the table of the page, with its default. */
const documented = Object.fromEntries(
  [...page.matchAll(/^\| `([A-Z_]+)` \| (.+?) \| .+ \|$/gm)].map(([, name, value]) => [
    name,
    value,
  ]),
);

function spelled(value: unknown): string {
  if (value === undefined) return 'none';
  return value === '' ? 'empty' : `\`${value}\``;
}

test('the configuration page lists every setting with its default, in order', () => {
  const settings = Object.entries(Settings.entries).map(([name, schema]) => [
    name,
    spelled(schema.default),
  ]);
  assert.deepEqual(Object.entries(documented), settings);
});
