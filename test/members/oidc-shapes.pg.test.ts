import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import type { OidcSettings } from '../../src/settings/sign-in.ts';
import {
  clientId,
  clientSecret,
  type ProviderAccount,
  passProvider,
  startOpenidProvider,
} from '../support/fakes/openid-provider.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { testSettings } from '../support/make/settings.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { visitorBrowser } from '../support/probe/visitor.ts';

/** Sign-ins with the claims that Entra ID and Google send, set up as ops/members.md says. */
const { db } = await testDatabase();
const publicUrl = 'https://askback.test';
const callback = `${publicUrl}/sign-in/oidc/callback`;
const organization = await makeOrganization(db);

const tenant = '9188040d-6c67-4c5b-b112-36a304b66dad';
const entra = await startOpenidProvider({ redirectUri: callback, path: `/${tenant}/v2.0` });
const google = await startOpenidProvider({ redirectUri: callback });
after(async () => {
  await entra.close();
  await google.close();
});

type Provider = typeof entra;

const group = '0f2c6b1e-5d0b-4d43-9a53-3a1f7c1f8b11';
const ofEntra: Partial<OidcSettings> = { name: 'Entra ID', groups: [{ group, role: 'editor' }] };
const ofGoogle: Partial<OidcSettings> = {
  ...{ name: 'Google', domains: ['acme.test'], role: 'viewer' },
};

/** Signs a person in at the provider, and returns the page that follows. */
async function signInAt(
  provider: Provider,
  rules: Partial<OidcSettings>,
  person: Record<string, unknown>,
) {
  const oidc: OidcSettings = {
    ...{ issuer: provider.issuer, clientId, clientSecret, name: 'Login' },
    ...{ domains: [], organization, role: null, groups: [], ...rules },
  };
  const signIn = { byPassword: true, oidc };
  const browser = visitorBrowser(bareApp(db, { settings: { ...testSettings, signIn } }));
  provider.state.account = person as ProviderAccount;
  const begun = await browser.get('/sign-in/oidc');
  const back = await passProvider(begun.headers.get('Location')!, callback);
  const answer = await browser.get(`${back.pathname}${back.search}`);
  const isIn = browser.cookie('__Host-askback') !== undefined;
  return { status: answer.status, text: await answer.text(), isIn };
}

const memberBy = async (subject: string) => {
  const [row] = await db<{ id: string; email: string; name: string; role: string | null }[]>`
    select m.id, m.email, m.name, s.role
    from members m
    left join memberships s on s.member_id = m.id and s.org_id = ${organization}
    where m.sso_subject = ${subject}`;
  return row;
};

/** What Entra ID says of a person, with the optional claims that the steps add; it has no `email_verified`. */
function personOfEntra() {
  const oid = randomUUID();
  const email = `${oid}@acme.test`;
  return {
    ...{ sub: randomUUID(), oid, tid: tenant, ver: '2.0' },
    ...{ name: 'Ann Lee', preferred_username: email, email, xms_edov: true, groups: [group] },
  };
}

/** What Google says of a person of a Workspace; it passes on no groups. */
function personOfGoogle() {
  const sub = `1${String(Math.random()).slice(2, 17)}`;
  return {
    ...{ sub, hd: 'acme.test', email: `${sub}@acme.test`, email_verified: true },
    ...{ name: 'Ann Lee', given_name: 'Ann', family_name: 'Lee' },
    picture: 'https://lh3.test/photo',
  };
}

for (const vouched of [true, 1, '1', 'true']) {
  test(`Entra ID: a person of the tenant comes in by the id of a group, with xms_edov ${JSON.stringify(vouched)}`, async () => {
    const person = { ...personOfEntra(), xms_edov: vouched };
    const { status, isIn } = await signInAt(entra, ofEntra, person);
    assert.deepEqual([status, isIn], [303, true]);
    const { email, name, role } = (await memberBy(person.sub))!;
    assert.deepEqual([email, name, role], [person.email, 'Ann Lee', 'editor']);
  });
}

test('Entra ID: a person who gets another name and address stays the same member', async () => {
  const person = personOfEntra();
  await signInAt(entra, ofEntra, person);
  const before = await memberBy(person.sub);
  const renamed = `ann-${person.email}`;
  const moved = { ...person, email: renamed, preferred_username: renamed };
  assert.equal((await signInAt(entra, ofEntra, moved)).isIn, true);
  assert.equal((await memberBy(person.sub))?.id, before?.id);
});

test('Google: a person of the Workspace comes in with the role of newcomers', async () => {
  const person = personOfGoogle();
  const { status, isIn } = await signInAt(google, ofGoogle, person);
  assert.deepEqual([status, isIn], [303, true]);
  const { email, name, role } = (await memberBy(person.sub))!;
  assert.deepEqual([email, name, role], [person.email, 'Ann Lee', 'viewer']);
});

const unconfirmed = / does not confirm that your email/;
const refused: [
  what: string,
  at: 'entra' | 'google',
  over: Record<string, unknown>,
  says: RegExp,
][] = [
  [
    'no xms_edov, as without the change of the manifest',
    'entra',
    { xms_edov: undefined },
    unconfirmed,
  ],
  [
    'an address of a domain that the tenant has not proved',
    'entra',
    { xms_edov: false },
    unconfirmed,
  ],
  ['both claims, of which one says no', 'entra', { email_verified: false }, unconfirmed],
  [
    'a user name in the form of an address alone',
    'entra',
    { email: undefined },
    /passed on no email address/,
  ],
  ['a group that gives no role', 'entra', { groups: [randomUUID()] }, /has no invitation yet/],
  [
    'more groups than fit, of which none is sent',
    'entra',
    { groups: undefined },
    /has no invitation yet/,
  ],
  [
    'an account outside the Workspace',
    'google',
    { hd: undefined, email: 'ann@gmail.test' },
    /Addresses of your domain/,
  ],
  ['an address that is not confirmed', 'google', { email_verified: false }, unconfirmed],
];

for (const [what, at, over, says] of refused) {
  test(`${at === 'entra' ? 'Entra ID' : 'Google'}: ${what}: the page says why, and there is no account`, async () => {
    const [provider, rules, person] =
      at === 'entra'
        ? ([entra, ofEntra, personOfEntra()] as const)
        : ([google, ofGoogle, personOfGoogle()] as const);
    const { status, text, isIn } = await signInAt(provider, rules, { ...person, ...over });
    assert.deepEqual([status, isIn], [403, false]);
    assert.match(text, says);
    assert.equal(await memberBy(person.sub), undefined);
  });
}
