import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { expiryOf, formatKey, parseKey } from '../../src/keys/rules.ts';

const idBytes = new Uint8Array(8).fill(7);
const secretBytes = new Uint8Array(32).fill(9);
const { key } = formatKey(idBytes, secretBytes);

test('a key is a prefix, 8 characters of id, 43 of secret, 6 of checksum', () => {
  assert.match(key, /^ask_live_[0-9A-Za-z]{8}_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/);
});

test('parseKey returns the parts of any formatted key', () => {
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  fc.assert(
    fc.property(bytes(8), bytes(32), (id, secret) => {
      const { key: spelled, ...spelledParts } = formatKey(id, secret);
      assert.deepEqual(parseKey(spelled), spelledParts);
    }),
  );
  assert.ok(parseKey(formatKey(new Uint8Array(8), secretBytes).key));
});

test('parseKey rejects a key with one wrong character', () => {
  const typo = key.replace('ask_live_7', 'ask_live_8');
  assert.notEqual(typo, key);
  assert.equal(parseKey(typo), undefined);
});

test('expiryOf adds the chosen days, or returns null for never', () => {
  const now = new Date('2026-01-31T12:00:00.123Z');
  const ends = (['30d', '90d', '365d', 'never'] as const).map((choice) => expiryOf(choice, now));
  assert.deepEqual(
    ends.map((end) => end?.toISOString()),
    ['2026-03-02T12:00:00.123Z', '2026-05-01T12:00:00.123Z', '2027-01-31T12:00:00.123Z', undefined],
  );
});
