import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readIdentity } from '../../../src/lib/oidc/provider.ts';

const least = { iss: 'https://login.acme.test', sub: '1' };

const verified: [claims: object, isVerified: boolean][] = [
  [{ email_verified: true }, true],
  [{ email_verified: 'true' }, true],
  [{ email_verified: 1 }, true],
  [{ email_verified: false }, false],
  [{ email_verified: 'false' }, false],
  [{ email_verified: {} }, false],
  [{}, false],
  [{ xms_edov: true }, true],
  [{ xms_edov: '1' }, true],
  [{ xms_edov: false }, false],
  [{ xms_edov: true, email_verified: false }, false],
];
for (const [claims, isVerified] of verified) {
  const says = isVerified ? 'is vouched for' : 'is not vouched for';
  test(`an address with ${JSON.stringify(claims)} ${says}`, () => {
    const read = readIdentity({ ...least, email: 'a@acme.test', ...claims });
    assert.equal(read.isEmailVerified, isVerified);
  });
}

test('a name is put together from its parts where there is none', () => {
  const parts = { given_name: 'Ann', family_name: 'Lee' };
  assert.equal(readIdentity({ ...least, ...parts }).name, 'Ann Lee');
  assert.equal(readIdentity({ ...least, ...parts, name: 'Ann B. Lee' }).name, 'Ann B. Lee');
  assert.equal(readIdentity(least).name, null);
});

test('claims of another form count as absent', () => {
  const odd = { email: 7, name: ['x'], groups: { a: 1 }, auth_time: 'yesterday' };
  assert.deepEqual(readIdentity({ ...least, ...odd }), readIdentity(least));
});

test('one group may stand alone, and what is no word is no group', () => {
  assert.deepEqual(readIdentity({ ...least, groups: 'team' }).groups, ['team']);
  assert.deepEqual(readIdentity({ ...least, groups: ['team', 7, null] }).groups, ['team']);
});

for (const sub of [undefined, '', 7, 'x'.repeat(256)]) {
  test(`the subject ${String(sub).slice(0, 9)} is none`, () => {
    assert.throws(() => readIdentity({ ...least, sub }));
  });
}

test('a subject has as many as 255 characters', () => {
  const sub = 'x'.repeat(255);
  assert.equal(readIdentity({ ...least, sub }).subject, sub);
});

test('the time of the last proof is in seconds', () => {
  const at = new Date('2026-03-01T08:09:10Z');
  const read = readIdentity({ ...least, auth_time: at.getTime() / 1000 });
  assert.deepEqual(read.authenticatedAt, at);
});
