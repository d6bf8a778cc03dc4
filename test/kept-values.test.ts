import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readKey } from '../src/keys/rules.ts';
import { createSecrets } from '../src/lib/crypto/secrets.ts';
import { recoveryCodeHash } from '../src/members/codes.ts';
import { checkPassword } from '../src/members/password.ts';
import { hashToken } from '../src/sessions/session.ts';

// What earlier versions wrote into the database or handed out: a version that reads it otherwise locks people out.

const base64 = (bytes: Buffer | undefined) => bytes?.toString('base64');

test('a secret that an earlier version sealed opens', () => {
  const secrets = createSecrets([Buffer.alloc(32, 7)]);
  const sealed = Buffer.from('e3lbJFkZlcbc1YyRt+hLudy49bgafin+yTDKLDFdop31Bjbf+tTbS+9t', 'base64');
  assert.equal(secrets.open({ owner: 'org', id: 'webhook' }, sealed), 'whsec_kept');
});

test('a password whose hash an earlier version kept is the right one', async () => {
  const stored =
    '$argon2id$v=19$m=19456,t=2,p=1$JNiByHc3FTRznm/cQ0az1g$XJ5+jvgDSsUISQTR4RYXoq0C3bt/B5YimRwM6WeFrvk';
  const address = { address: '192.0.2.1' };
  assert.equal(await checkPassword(stored, 'correct horse battery', address), true);
  assert.equal(await checkPassword(stored, 'correct horse bakery', address), false);
});

test('an API key that an earlier version handed out is read as it was', () => {
  const key = readKey('ask_live_33333333_BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU173lhY');
  assert.equal(key?.publicId, '33333333');
  assert.equal(base64(key?.secretHash), 'iU41LR2MwQwwPfj9RaWe6XswhBvb9gtH+jF8f6TJWFk=');
});

test('the token of a session and a recovery code have the hashes that earlier versions kept', () => {
  assert.equal(base64(hashToken('a token')), '4zFuK6/rthA6NBjod4wK3JYNQCE6A6fn9PzTQm7YB78=');
  assert.equal(
    base64(recoveryCodeHash('b1a6a2a8-0000-4000-8000-000000000001', 'AB2C-DE3F GH4I-JK5L')),
    'muJSyf1tezNCT0dqsE7peiMoLL5OaE6CVwjhmFdu7UY=',
  );
});
