import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { changeFrom, GeneralSettings } from '../../src/organizations/screens/general.tsx';

const asItIs = { name: 'Acme', slug: 'acme', color: '#2f6fed', language: 'en', time_zone: 'UTC' };

const days: [field: keyof typeof GeneralSettings.entries, most: number][] = [
  ['frequency_days', 3650],
  ['keep_comments_days', 36_500],
  ['keep_contacts_days', 36_500],
  ['keep_openings_days', 90],
  ['keep_mails_days', 36_500],
];

for (const [field, most] of days) {
  test(`${field} of the form is a number of days up to ${most}, and 0 or nothing is no such rule`, async () => {
    const stored = async (given: string) => {
      const read = v.safeParse(GeneralSettings, { ...asItIs, [field]: given });
      if (!read.success) return read.issues.map(({ message }) => message).join();
      return (await changeFrom(read.output))[field as 'frequency_days'];
    };
    for (const none of ['', '0']) assert.equal(await stored(none), null);
    assert.equal(await stored('1'), 1);
    assert.equal(await stored(String(most)), most);
    assert.equal(await stored(String(most + 1)), `must be at most ${most}`);
  });
}
