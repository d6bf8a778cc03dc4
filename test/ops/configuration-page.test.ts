import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Settings } from '../../src/settings.ts';

const page = readFileSync('ops/configuration.md', 'utf8');

/** The table of the page: each variable with its default. */
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

test('the configuration page has every setting with its default, in order, and no other', () => {
  const settings = Object.entries(Settings.entries).map(([name, schema]) => [
    name,
    spelled(schema.default),
  ]);
  assert.deepEqual(Object.entries(documented), settings);
});
