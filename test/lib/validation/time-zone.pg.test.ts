import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTimeZone, isTimeZoneName } from '../../../src/lib/validation/parse.ts';
import { testDatabase } from '../../support/probe/database.ts';

const zones = ['UTC', 'utc', 'Europe/Berlin', 'america/new_york', 'Etc/GMT+2', 'EST5EDT'];
const offsets = ['+02:00', '-0330'];
const others = ['', ' UTC', '02:00', 'UTC+2', 'Mars/Base', 'Europe/Berlin\0'];

for (const name of zones) {
  test(`${name} is the name of a time zone`, () => {
    assert.deepEqual([isTimeZone(name), isTimeZoneName(name)], [true, true]);
  });
}

for (const offset of offsets) {
  test(`${offset} is a time zone without a name`, () => {
    assert.deepEqual([isTimeZone(offset), isTimeZoneName(offset)], [true, false]);
  });
}

for (const name of others) {
  test(`${JSON.stringify(name)} is not a time zone`, () => {
    assert.deepEqual([isTimeZone(name), isTimeZoneName(name)], [false, false]);
  });
}

test('Postgres and JavaScript agree on named time zones', async () => {
  const { db } = await testDatabase();
  const at = new Date('2026-01-15T12:00:00Z');
  const given = [...zones, ...Intl.supportedValuesOf('timeZone')].filter(isTimeZoneName);
  const rows = await db<{ name: string; clock: string }[]>`
    select name, to_char(${at}::timestamptz at time zone name, 'YYYY-MM-DD HH24:MI') as clock
    from unnest(${given}::text[]) name`;
  const clockOf = (timeZone: string) =>
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  assert.deepEqual(
    rows.filter(({ name, clock }) => clockOf(name).format(at) !== clock),
    [],
  );
});
