import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endOf, firstOf, readInstants } from '../../src/responses/period.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

/** Includes zones whose clocks change at midnight or one o'clock. */
const zones = [
  'America/Havana',
  'America/Sao_Paulo',
  'America/Asuncion',
  'Asia/Beirut',
  'Atlantic/Azores',
  'Africa/Cairo',
  'Europe/Berlin',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
];

for (const zone of zones) {
  test(`a day in ${zone} begins and ends as in Postgres`, async () => {
    const days = await db<{ day: string; first: Date; end: Date }[]>`
      select day::date::text as day, day at time zone ${zone} as first, (day + interval '1 day') at time zone ${zone} as end
      from generate_series(timestamp '2016-01-01', '2019-12-31', '1 day') day`;
    const wrong = days.filter(({ day, first, end }) => {
      const instants = readInstants(day)!;
      const same = firstOf(instants, zone).getTime() === first.getTime();
      return !same || endOf(instants, zone).getTime() !== end.getTime();
    });
    assert.deepEqual(wrong, []);
  });
}
