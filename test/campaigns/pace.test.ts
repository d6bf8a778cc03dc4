import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pacedMails } from '../../src/campaigns/rules.ts';

const now = new Date('2027-01-15T12:00:00Z');
const after = (seconds: number) => new Date(now.getTime() + seconds * 1000);

const cases: [
  what: string,
  perHour: number | null,
  dueIn: number,
  atMost: number,
  mails: number,
  nextIn: number | null,
][] = [
  ['has no pace', null, 0, 500, 500, null],
  ['is just due', 3600, 0, 500, 1, 1],
  ['is not yet due', 3600, 0.5, 500, 0, 0.5],
  ['is three seconds late', 3600, -3, 500, 4, 1],
  ['is an hour late', 3600, -3600, 500, 6, 1],
  ['has no room', 3600, -3, 2, 2, -1],
  ['is faster than one a second', 36_000, -1, 500, 11, 0.1],
  ['is slower than one an hour', 1, 0, 500, 1, 3600],
];

for (const [what, perHour, dueIn, atMost, mails, nextIn] of cases) {
  test(`a campaign that ${what} claims ${mails} mails`, () => {
    const paced = pacedMails({ perHour, nextMailAt: after(dueIn), now }, atMost);
    assert.deepEqual(paced, { mails, nextMailAt: nextIn === null ? null : after(nextIn) });
  });
}
