import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextOpening, pacedMails } from '../../src/campaigns/rules.ts';
import type { SendWindow } from '../../src/surveys/schemas.ts';

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
  test(`a campaign that ${what} claims ${mails} emails`, () => {
    const paced = pacedMails({ perHour, nextMailAt: after(dueIn), now }, atMost);
    assert.deepEqual(paced, { mails, nextMailAt: nextIn === null ? null : after(nextIn) });
  });
}

const week: SendWindow['days'] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const berlin: SendWindow = { days: week, from: '09:00', to: '17:00', time_zone: 'Europe/Berlin' };
const weekdays: SendWindow = { ...berlin, days: ['mon', 'tue', 'wed', 'thu', 'fri'] };

const windows: [what: string, window: SendWindow | null, now: string, opens: string][] = [
  ['none', null, '2027-01-01T03:00:00Z', '2027-01-01T03:00:00Z'],
  ['open', berlin, '2027-01-15T12:00:00Z', '2027-01-15T12:00:00Z'],
  ['about to open', berlin, '2027-01-15T07:59:59Z', '2027-01-15T08:00:00Z'],
  ['open from its first moment', berlin, '2027-01-15T08:00:00Z', '2027-01-15T08:00:00Z'],
  ['closed from its last moment', berlin, '2027-01-15T16:00:00Z', '2027-01-16T08:00:00Z'],
  ['closed over the weekend', weekdays, '2027-01-15T16:00:00Z', '2027-01-18T08:00:00Z'],
  ['in summer time an hour earlier', berlin, '2027-07-15T06:00:00Z', '2027-07-15T07:00:00Z'],
  ['before the clocks go forward', berlin, '2027-03-27T17:00:00Z', '2027-03-28T07:00:00Z'],
  ['before the clocks go back', berlin, '2027-10-30T17:00:00Z', '2027-10-31T08:00:00Z'],
  [
    'a time that is skipped',
    { ...berlin, from: '02:30', to: '03:30' },
    '2027-03-28T00:00:00Z',
    '2027-03-28T01:30:00Z',
  ],
  [
    'a time that comes twice',
    { ...berlin, from: '02:30', to: '03:30' },
    '2027-10-31T00:00:00Z',
    '2027-10-31T00:30:00Z',
  ],
  [
    'one day a week, just closed',
    { ...berlin, days: ['fri'] },
    '2027-01-15T16:00:00Z',
    '2027-01-22T08:00:00Z',
  ],
  [
    'a day ahead of UTC',
    { ...berlin, days: ['mon'], time_zone: 'Pacific/Kiritimati' },
    '2027-01-17T18:00:00Z',
    '2027-01-17T19:00:00Z',
  ],
];

for (const [what, window, now, opens] of windows) {
  test(`nextOpening finds the next opening of ${what}`, () => {
    assert.equal(nextOpening(window, new Date(now)).toISOString(), new Date(opens).toISOString());
  });
}
