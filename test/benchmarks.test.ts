import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Part, withPart } from './bench/report.ts';

const names = ['reads', 'sends', 'app'];
const part = (name: string, line: string): Part => ({
  name,
  kind: '2 cores',
  measured: 'Measured on a day',
  sections: [
    { title: `${name} one`, lines: [line] },
    { title: `${name} two`, lines: ['more'] },
  ],
});

test('a part replaces what was measured of it before, and leaves the others', () => {
  const first = withPart(withPart('', part('sends', 'old'), names), part('app', 'pages'), names);
  const again = withPart(first, part('sends', 'new'), names);
  assert.match(again, /^# Benchmarks\n.*## sends one\n\nMeasured on a day, on 2 cores\.\n\nnew\n/s);
  assert.match(again, /## app one\n.*pages\n\n## app two\n\nmore\n$/s);
  assert.doesNotMatch(again, /old/);
});

test('parts stand in their order, whichever was measured last', () => {
  let report = '';
  for (const name of ['app', 'reads', 'sends']) report = withPart(report, part(name, 'x'), names);
  assert.deepEqual(report.match(/(?<=## )\w+(?= one)/g), names);
});
