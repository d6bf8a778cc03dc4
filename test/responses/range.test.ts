import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInstants, splitRange } from '../../src/responses/period.ts';

const spans: [text: string, first: string, end: string][] = [
  ['2024-05-01', '2024-05-01T00:00:00.000Z', '2024-05-02T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
  ['2024-05-01T09:30Z', '2024-05-01T09:30:00.000Z', '2024-05-01T09:30:00.001Z'],
  ['2024-05-01T09:30', '2024-05-01T09:30:00.000Z', '2024-05-01T09:30:00.001Z'],
  ['2024-05-01t09:30:15z', '2024-05-01T09:30:15.000Z', '2024-05-01T09:30:15.001Z'],
  ['2024-05-01T09:30:15.5Z', '2024-05-01T09:30:15.500Z', '2024-05-01T09:30:15.501Z'],
  ['2024-05-01T09:30:15.123456Z', '2024-05-01T09:30:15.123Z', '2024-05-01T09:30:15.124Z'],
  ['2024-05-01T09:30:15,123456789Z', '2024-05-01T09:30:15.123Z', '2024-05-01T09:30:15.124Z'],
  ['2024-05-01T01:30:00+02:00', '2024-04-30T23:30:00.000Z', '2024-04-30T23:30:00.001Z'],
  ['2024-05-01T01:30:00 02:00', '2024-04-30T23:30:00.000Z', '2024-04-30T23:30:00.001Z'],
  ['2024-05-01T23:30:00-0130', '2024-05-02T01:00:00.000Z', '2024-05-02T01:00:00.001Z'],
  ['2024-05-01T23:30:00+05', '2024-05-01T18:30:00.000Z', '2024-05-01T18:30:00.001Z'],
  ['0001-01-01', '1000-01-01T00:00:00.000Z', '1000-01-01T00:00:00.000Z'],
  ['9999-12-31', '9999-01-01T00:00:00.000Z', '9999-01-01T00:00:00.000Z'],
];

for (const [text, first, end] of spans) {
  test(`${text} begins at ${first} and ends before ${end}`, () => {
    const instants = readInstants(text);
    assert.deepEqual([instants?.first.toISOString(), instants?.end.toISOString()], [first, end]);
  });
}

const nonsense = [
  '',
  'yesterday',
  '2024',
  '2024-5-1',
  '2024-02-30',
  '2023-02-29',
  '2024-13-01',
  '2024-05-01T24:00:00Z',
  '2024-05-01T10:60Z',
  '2024-05-01T10:00:60Z',
  '2024-05-01T10:00:00.1234567890Z',
  '2024-05-01Z',
  '2024-05-01T10Z',
  '2024-05-01T10:00:00+25:00',
  '+012024-05-01',
  '1714555800',
  ' 2024-05-01',
  '2024-05-01\n',
];
for (const text of nonsense) {
  test(`${JSON.stringify(text)} is not a date`, () => assert.equal(readInstants(text), undefined));
}

const at = (text: string | null) => text && new Date(`2024-05-${text}Z`);
const splits: [
  why: string,
  from: string | null,
  to: string | null,
  days: [string | null, string | null] | null,
  edges: [string, string][],
][] = [
  ['everything is whole hours', null, null, [null, null], []],
  ['whole hours leave no edge', '01T00:00', '03T04:00', ['01T00:00', '03T04:00'], []],
  [
    'both ends within an hour',
    '01T10:10',
    '04T06:50',
    ['01T11:00', '04T06:00'],
    [
      ['01T10:10', '01T11:00'],
      ['04T06:00', '04T06:50'],
    ],
  ],
  ['only a beginning', '01T10:10', null, ['01T11:00', null], [['01T10:10', '01T11:00']]],
  ['only an end', null, '04T06:50', [null, '04T06:00'], [['04T06:00', '04T06:50']]],
  ['within one hour', '01T10:10', '01T10:20', null, [['01T10:10', '01T10:20']]],
  ['over one full hour', '01T10:10', '01T11:20', null, [['01T10:10', '01T11:20']]],
  ['an end before its beginning', '05T10:10', '02T11:20', null, [['05T10:10', '02T11:20']]],
];

for (const [why, from, to, hours, edges] of splits) {
  test(`splitting a range: ${why}`, () => {
    const split = splitRange({ from: at(from), to: at(to) } as Parameters<typeof splitRange>[0]);
    assert.deepEqual(split.hours, hours && { from: at(hours[0]), to: at(hours[1]) });
    assert.deepEqual(
      split.edges,
      edges.map(([start, end]) => ({ from: at(start), to: at(end) })),
    );
  });
}
