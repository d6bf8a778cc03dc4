import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { makeOrganization } from '../support/make/rows.ts';
import { type SignInRules, singleSignOn } from '../support/make/single-sign-on.ts';
import { testDatabase } from '../support/probe/database.ts';

/** Sign-ins with the claims that Entra ID and Google send, set up as ops/members.md says. */
const { db } = await testDatabase();
const organization = await makeOrganization(db);

const tenant = '9188040d-6c67-4c5b-b112-36a304b66dad';
const entra = await singleSignOn(db, { organization, path: `/${tenant}/v2.0` });
const google = await singleSignOn(db, { organization });

const group = '0f2c6b1e-5d0b-4d43-9a53-3a1f7c1f8b11';
const ofEntra: SignInRules = { name: 'Entra ID', groups: [{ group, role: 'editor' }] };
const ofGoogle: SignInRules = {
  name: 'Google',
  domains: ['acme.test'],
  role: 'viewer',
};

/** Claims of Entra ID with the optional ones from ops/members.md. Entra ID sends no `email_verified`. */
function personOfEntra() {
  const oid = randomUUID();
  const email = `${oid}@acme.test`;
  return {
    sub: randomUUID(),
    oid,
    tid: tenant,
    ver: '2.0',
    name: 'Ann Lee',
    preferred_username: email,
    email,
    xms_edov: true,
    groups: [group],
  };
}

/** Claims of a Google Workspace, which sends no groups. */
function personOfGoogle() {
  const sub = `1${String(Math.random()).slice(2, 17)}`;
  return {
    sub,
    hd: 'acme.test',
    email: `${sub}@acme.test`,
    email_verified: true,
    name: 'Ann Lee',
    given_name: 'Ann',
    family_name: 'Lee',
    picture: 'https://lh3.test/photo',
  };
}

for (const vouched of [true, 1, '1', 'true']) {
  test(`Entra ID signs in by group id with xms_edov ${JSON.stringify(vouched)}`, async () => {
    const person = { ...personOfEntra(), xms_edov: vouched };
    const { status, hasSession } = await entra.signInAs(person, ofEntra);
    assert.deepEqual([status, hasSession], [303, true]);
    const { email, name, role } = (await entra.memberOf(person.sub))!;
    assert.deepEqual([email, name, role], [person.email, 'Ann Lee', 'editor']);
  });
}

test('Google signs in a person of the Workspace with the default role', async () => {
  const person = personOfGoogle();
  const { status, hasSession } = await google.signInAs(person, ofGoogle);
  assert.deepEqual([status, hasSession], [303, true]);
  const { email, name, role } = (await entra.memberOf(person.sub))!;
  assert.deepEqual([email, name, role], [person.email, 'Ann Lee', 'viewer']);
});

const unconfirmed = / has not verified your email/;
const uninvited = /have no invitation yet/;
type Refused = [what: string, at: 'entra' | 'google', over: Record<string, unknown>, says: RegExp];
const refused: Refused[] = [
  ['no xms_edov', 'entra', { xms_edov: undefined }, unconfirmed],
  ['a domain that the tenant has not verified', 'entra', { xms_edov: false }, unconfirmed],
  ['contradicting claims', 'entra', { email_verified: false }, unconfirmed],
  ['a user name without email', 'entra', { email: undefined }, /did not send your email address/],
  ['a group without a role', 'entra', { groups: [randomUUID()] }, uninvited],
  ['too many groups', 'entra', { groups: undefined }, uninvited],
  [
    'another domain',
    'google',
    { hd: undefined, email: 'a@gmail.test' },
    /addresses at your domain/,
  ],
  ['an unverified email', 'google', { email_verified: false }, unconfirmed],
];

for (const [what, at, over, says] of refused) {
  test(`${at === 'entra' ? 'Entra ID' : 'Google'} sign-in is refused for ${what}`, async () => {
    const [provider, rules, person] =
      at === 'entra'
        ? ([entra, ofEntra, personOfEntra()] as const)
        : ([google, ofGoogle, personOfGoogle()] as const);
    const { status, text, hasSession } = await provider.signInAs({ ...person, ...over }, rules);
    assert.deepEqual([status, hasSession], [403, false]);
    assert.match(text, says);
    assert.equal(await entra.memberOf(person.sub), undefined);
  });
}
