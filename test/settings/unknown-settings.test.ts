import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Settings, unknownSettings } from '../../src/settings.ts';

const known = Object.keys(Settings.entries);

for (const [name, meant] of [
  ['ASKBACK_PORT', 'PORT'],
  ['ASKBACK_DATABASE_URL', 'DATABASE_URL'],
  ['ASKBACK_RATELIMIT', 'ASKBACK_RATE_LIMIT'],
  ['ASKBACK_SECRET_KEY_FIEL', 'ASKBACK_SECRET_KEY_FILE'],
] as const) {
  test(`${name} is unknown and suggests ${meant}`, () => {
    const [warning] = unknownSettings([name], known);
    assert.ok(warning?.endsWith(`did you mean '${meant}'?`));
  });
}

test('known settings and other variables are not reported', () => {
  const names = known.flatMap((name) => [name, `${name}_FILE`]);
  assert.deepEqual(unknownSettings([...names, 'PATH', 'PROT'], known), []);
});
