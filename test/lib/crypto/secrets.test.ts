import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  createSecrets,
  getOrCreateSecretKey,
  readSecretKey,
} from '../../../src/lib/crypto/secrets.ts';

const [older, newer] = [randomBytes(32), randomBytes(32)];
const owner = { owner: 'o', id: 'w' };

test('a sealed secret is unreadable and opens again', () => {
  const secrets = createSecrets([older]);
  const sealed = secrets.seal(owner, 'whsec_hush');
  assert.ok(!sealed.includes('hush'));
  assert.equal(secrets.open(owner, sealed), 'whsec_hush');
});

test('a sealed secret opens only for its owner', () => {
  const secrets = createSecrets([older]);
  const sealed = secrets.seal(owner, 'hush');
  assert.throws(() => secrets.open({ ...owner, id: 'x' }, sealed));
  assert.throws(() => secrets.open({ ...owner, owner: 'x' }, sealed));
});

test('a sealed secret with a changed byte does not open', () => {
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

test('opening a secret whose key is missing reports the missing key', () => {
  const sealed = createSecrets([older]).seal(owner, 'hush');
  assert.throws(() => createSecrets([newer]).open(owner, sealed), { message: /is not configured/ });
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'askback-secret-'));
  after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test('a key is created once with mode 600 and without a draft', () => {
  const path = join(folder(), 'data');
  const key = getOrCreateSecretKey(path);
  assert.equal(key.length, 32);
  assert.deepEqual(getOrCreateSecretKey(path), key);
  assert.deepEqual(readdirSync(path), ['secret.key']);
  assert.equal(statSync(join(path, 'secret.key')).mode & 0o777, 0o600);
});

test('reading a key does not create one', () => {
  const path = folder();
  assert.equal(readSecretKey(path), undefined);
  assert.deepEqual(readdirSync(path), []);
});

test('a damaged key is rejected, not replaced', () => {
  const path = folder();
  writeFileSync(join(path, 'secret.key'), 'half');
  assert.throws(() => getOrCreateSecretKey(path), { message: /secret\.key is damaged/ });
});
