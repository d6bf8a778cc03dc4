import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Settings, unknownSettings } from '../../src/settings.ts';

const known = Object.keys(Settings.entries);
const warningOf = (name: string) => unknownSettings([name], known)[0];

const meant: [given: string, meant: string | null][] = [
  ['ASKBACK_PORT', 'PORT'],
  ['ASKBACK_PROT', 'PORT'],
  ['ASKBACK_HOST', 'HOST'],
  ['ASKBACK_DATABASE_URL', 'DATABASE_URL'],
  ['ASKBACK_RATELIMIT', 'ASKBACK_RATE_LIMIT'],
  ['ASKBACK_SMPT_URL', 'ASKBACK_SMTP_URL'],
  ['ASKBACK_SECRET_KEY_FIEL', 'ASKBACK_SECRET_KEY_FILE'],
  ['ASKBACK_SMPTS_URL', 'ASKBACK_SMTP_URL'],
  ['ASKBACK_MSPT_URL', 'ASKBACK_SMTP_URL'],
  ['ASKBACK_SMPTS_URLS', null],
  ['ASKBACK_COLOUR_OF_THE_SKY', null],
];

for (const [given, name] of meant) {
  test(`${given} is unknown and ${name ? `suggests ${name}` : 'suggests nothing'}`, () => {
    const question = name ? `: did you mean ${name}?` : '';
    assert.equal(warningOf(given), `${given} is set, and is no setting of askback${question}`);
  });
}

test('settings, their files and variables of other programs are not reported', () => {
  const names = known.flatMap((name) => [name, `${name}_FILE`]);
  assert.deepEqual(unknownSettings([...names, 'PATH', 'PROT'], known), []);
});

test('warnings of several variables come in the order of their names', () => {
  const given = ['ASKBACK_PORT', 'ASKBACK_COLOUR', 'ASKBACK_HOST'];
  assert.deepEqual(
    unknownSettings(given, known).map((warning) => warning.split(' ')[0]),
    given.toSorted(),
  );
});
