import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mediansOf } from './bench/medians.ts';
import { type Part, table, withPart } from './bench/report.ts';

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

test('rounds become medians of their numbers, and verdicts of their majority', () => {
  const round = (rate: string, verdict: string, note: string) => [
    {
      title: 'Reads: 3 of them',
      lines: [...table(['', 'rate', ''], [['nps', rate, verdict]]), '', note],
    },
  ];
  const rounds = [
    round('9,800/s', 'met', 'It took 1.5 s.'),
    round('10,200/s', '**missed**', 'It took 0.7 s.'),
    round('990/s', 'met', 'It took 12.0 s.'),
  ];
  assert.deepEqual(mediansOf(rounds), round('9,800/s', 'met', 'It took 1.5 s.'));
  const others = [
    ...rounds,
    ...Array.from({ length: 2 }, () => round('10/s', '**missed**', 'It took 9 s.')),
  ];
  assert.deepEqual(mediansOf(others), round('990/s', '**missed**', 'It took 9 s.'));
  assert.throws(() => mediansOf([rounds[0]!, [{ title: '', lines: ['one'] }]]), /same rows/);
});
