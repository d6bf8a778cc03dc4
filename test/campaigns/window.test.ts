import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextOpening } from '../../src/campaigns/rules.ts';
import type { SendWindow } from '../../src/surveys/schemas.ts';

const week: SendWindow['days'] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const berlin: SendWindow = { days: week, from: '09:00', to: '17:00', time_zone: 'Europe/Berlin' };
const weekdays: SendWindow = { ...berlin, days: ['mon', 'tue', 'wed', 'thu', 'fri'] };

const cases: [what: string, window: SendWindow | null, now: string, opens: string][] = [
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

for (const [what, window, now, opens] of cases) {
  test(`a window that is ${what}`, () => {
    assert.equal(nextOpening(window, new Date(now)).toISOString(), new Date(opens).toISOString());
  });
}
