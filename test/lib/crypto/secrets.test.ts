import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createSecrets } from '../../../src/lib/crypto/secrets.ts';

const [older, newer] = [randomBytes(32), randomBytes(32)];
const owner = { owner: 'o', id: 'w' };

test('a sealed secret opens again, and is not readable meanwhile', () => {
  const secrets = createSecrets([older]);
  const sealed = secrets.seal(owner, 'whsec_hush');
  assert.ok(!sealed.includes('hush'));
  assert.equal(secrets.open(owner, sealed), 'whsec_hush');
});

test('a sealed secret opens for its owner alone', () => {
  const secrets = createSecrets([older]);
  const sealed = secrets.seal(owner, 'hush');
  assert.throws(() => secrets.open({ ...owner, id: 'x' }, sealed));
  assert.throws(() => secrets.open({ ...owner, owner: 'x' }, sealed));
});

test('one changed byte is noticed', () => {
  const secrets = createSecrets([older]);
  for (const place of [4, 17, -1]) {
    const sealed = secrets.seal(owner, 'hush');
    sealed[place < 0 ? sealed.length + place : place]! ^= 1;
    assert.throws(() => secrets.open(owner, sealed));
  }
});

test('after a rotation the old key still opens, and the new one seals', () => {
  const sealed = createSecrets([older]).seal(owner, 'hush');
  const rotated = createSecrets([newer, older]);
  assert.equal(rotated.open(owner, sealed), 'hush');
  assert.equal(createSecrets([newer]).open(owner, rotated.seal(owner, 'new')), 'new');
});

test('a secret sealed with a key that is gone says so', () => {
  const sealed = createSecrets([older]).seal(owner, 'hush');
  assert.throws(() => createSecrets([newer]).open(owner, sealed), { message: /is not configured/ });
});

test('what an earlier version sealed opens, and what is sealed is written as it was', () => {
  const secrets = createSecrets([Buffer.from('0123456789abcdef0123456789abcdef'), older]);
  const before = '5e419d1a31efa5d48f73d83f50a827cb4191d92e39a6be6b7a38d6b6834a214c6f37eb76';
  assert.equal(secrets.open(owner, Buffer.from(before, 'hex')), 'hush');
  const sealed = secrets.seal(owner, 'hush');
  assert.equal(sealed.length, before.length / 2);
  assert.equal(sealed.toString('hex', 0, 4), '5e419d1a');
  assert.equal(secrets.keyId.toString('hex'), '5e419d1a');
});
