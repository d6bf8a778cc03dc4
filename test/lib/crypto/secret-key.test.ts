import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { obtainSecretKey, readSecretKey } from '../../../src/lib/crypto/secrets.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'askback-secret-'));
  after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test('a key is made once, for its owner’s eyes only, and leaves no draft', () => {
  const path = join(folder(), 'data');
  const key = obtainSecretKey(path);
  assert.equal(key.length, 32);
  assert.deepEqual(obtainSecretKey(path), key);
  assert.deepEqual(readdirSync(path), ['secret.key']);
  assert.equal(statSync(join(path, 'secret.key')).mode & 0o777, 0o600);
});

test('looking for a key makes none', () => {
  const path = folder();
  assert.equal(readSecretKey(path), undefined);
  assert.deepEqual(readdirSync(path), []);
});

test('a damaged key is refused, never replaced', () => {
  const path = folder();
  writeFileSync(join(path, 'secret.key'), 'half');
  assert.throws(() => obtainSecretKey(path), { message: /secret\.key is damaged/ });
});
