import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readKey, spellKey } from '../../src/keys/rules.ts';

const idBytes = new Uint8Array(8).fill(7);
const secretBytes = new Uint8Array(32).fill(9);
const { key, ...parts } = spellKey(idBytes, secretBytes);

test('a key is the prefix, 8 characters of id, 43 of secret and 6 of checksum', () => {
  assert.match(key, /^ask_live_[0-9A-Za-z]{8}_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/);
});

test('reading a key gives the parts it was spelled from', () => {
  assert.deepEqual(readKey(key), parts);
});

test('one wrong character is noticed without the database', () => {
  const typo = key.replace('ask_live_7', 'ask_live_8');
  assert.notEqual(typo, key);
  assert.equal(readKey(typo), undefined);
});

for (const nonsense of ['', 'ask_live_', `${key}x`, ` ${key}`, key.toUpperCase()]) {
  test(`${JSON.stringify(nonsense)} is not a key`, () =>
    assert.equal(readKey(nonsense), undefined));
}
