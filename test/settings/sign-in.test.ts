import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigError, loadConfig } from '../../src/settings.ts';

const provider = {
  ASKBACK_OIDC_ISSUER: 'https://login.acme.test/realms/acme',
  ASKBACK_OIDC_CLIENT_ID: 'askback',
  ASKBACK_OIDC_CLIENT_SECRET: 'secret',
};

test('a provider has defaults for its name and newcomers', () => {
  assert.deepEqual(signIn(provider).oidc, {
    issuer: 'https://login.acme.test/realms/acme',
    name: 'login.acme.test',
    clientId: 'askback',
    clientSecret: 'secret',
    domains: [],
    organization: null,
    role: null,
    groups: [],
  });
});

test('groups are split at commas, roles at the last colon', () => {
  const ASKBACK_OIDC_GROUPS = 'urn:acme:Feedback team:editor, managers : owner,';
  assert.deepEqual(signIn({ ...provider, ASKBACK_OIDC_GROUPS }).oidc?.groups, [
    { group: 'urn:acme:Feedback team', role: 'editor' },
    { group: 'managers', role: 'owner' },
  ]);
});

test('passwords can be off with a provider', () => {
  assert.equal(signIn({ ...provider, ASKBACK_PASSWORD_SIGN_IN: 'off' }).byPassword, false);
});

const onlyGoogle = { ...provider, ASKBACK_OIDC_ISSUER: 'https://accounts.google.com' };
const refused: [what: string, environment: Record<string, string>, complaint: RegExp][] = [
  [
    'passwords off with nothing left',
    { ASKBACK_PASSWORD_SIGN_IN: 'off' },
    /^ASKBACK_PASSWORD_SIGN_IN: can be off only with ASKBACK_OIDC_ISSUER/,
  ],
  [
    'a provider without a client',
    { ASKBACK_OIDC_ISSUER: provider.ASKBACK_OIDC_ISSUER },
    /^ASKBACK_OIDC_CLIENT_ID, ASKBACK_OIDC_CLIENT_SECRET: required for OpenID Connect, together with the others$/,
  ],
  [
    'a role without a provider',
    { ASKBACK_OIDC_ROLE: 'viewer' },
    /^ASKBACK_OIDC_ROLE: also needs ASKBACK_OIDC_ISSUER/,
  ],
  [
    'a provider without encryption',
    { ...provider, ASKBACK_OIDC_ISSUER: 'http://login.acme.test' },
    /^ASKBACK_OIDC_ISSUER: must begin with https:\/\//,
  ],
  [
    'a provider with a query',
    { ...provider, ASKBACK_OIDC_ISSUER: 'https://login.acme.test/?realm=acme' },
    /^ASKBACK_OIDC_ISSUER: must be an address without query/,
  ],
  [
    'an unknown role',
    { ...provider, ASKBACK_OIDC_ROLE: 'admin' },
    /^ASKBACK_OIDC_ROLE: must be viewer, editor or owner$/,
  ],
  [
    'a group without a role',
    { ...provider, ASKBACK_OIDC_GROUPS: 'feedback-team' },
    /^ASKBACK_OIDC_GROUPS.*: must be a list of group:role/,
  ],
  [
    'an address where a domain belongs',
    { ...provider, ASKBACK_OIDC_DOMAINS: '@acme.test' },
    /^ASKBACK_OIDC_DOMAINS.*: must be a list of domain names/,
  ],
  [
    'a role for everybody in the world',
    { ...onlyGoogle, ASKBACK_OIDC_ROLE: 'viewer' },
    /^ASKBACK_OIDC_DOMAINS: is required with ASKBACK_OIDC_ROLE at accounts.google.com/,
  ],
];

for (const [what, environment, complaint] of refused) {
  test(`${what} is refused with a reason`, () => {
    const [first, ...others] = complaintsOf(environment);
    assert.match(first ?? '', complaint);
    assert.deepEqual(others, []);
  });
}

test('a provider on localhost may use http', () => {
  const ASKBACK_OIDC_ISSUER = 'http://127.0.0.1:4000';
  assert.equal(signIn({ ...provider, ASKBACK_OIDC_ISSUER }).oidc?.issuer, ASKBACK_OIDC_ISSUER);
});

test('a public provider without role needs invitations', () => {
  assert.equal(signIn(onlyGoogle).oidc?.role, null);
});

function signIn(environment: Record<string, string>) {
  return loadConfig(environment, () => '').signIn;
}

function complaintsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig(environment, () => '');
    return [];
  } catch (error) {
    return (error as ConfigError).complaints;
  }
}
