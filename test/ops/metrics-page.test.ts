import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { instruments } from '../../src/observations/instruments.ts';

const page = readFileSync('ops/metrics.md', 'utf8');

test('the metrics page lists every instrument in order', () => {
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (\w+) \| (.+?) \| (.+) \|$/gm)];
  const documented = rows.map(([, name, kind, labels, help]) => ({ name, kind, labels, help }));
  const measured = instruments.map(({ name, kind, labels, help }) => ({
    name,
    kind,
    help,
    labels:
      Object.keys(labels)
        .map((label) => `\`${label}\``)
        .join(', ') || 'none',
  }));
  assert.deepEqual(documented, measured);
});
