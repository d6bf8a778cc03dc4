import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createOidcProvider,
  type OidcFailure,
  type OidcFlow,
  type OidcIdentity,
} from '../../../src/lib/oidc/provider.ts';
import {
  clientId,
  clientSecret,
  passProvider,
  startOpenidProvider,
} from '../../support/fakes/openid-provider.ts';

const redirectUri = 'http://127.0.0.1:9/sign-in/oidc/callback';

const providerOf = (issuer: string, secret = clientSecret) =>
  createOidcProvider({ issuer, clientId, clientSecret: secret, redirectUri });

type Provider = ReturnType<typeof providerOf>;

for (const claimsInToken of [true, false]) {
  const where = claimsInToken ? 'in the token' : 'at an address of their own';
  test(`an identity comes back with its claims ${where}`, async () => {
    await using fake = await startOpenidProvider({ redirectUri, claimsInToken });
    fake.state.account = {
      sub: 'a-1',
      email: 'ann@acme.test',
      email_verified: true,
      name: 'Ann',
      groups: ['team', 'managers'],
    };
    const provider = providerOf(fake.issuer);
    const identity = await signIn(provider, { groups: true });
    const { authenticatedAt, ...rest } = identity;
    assert.deepEqual(rest, {
      issuer: fake.issuer,
      subject: 'a-1',
      email: 'ann@acme.test',
      isEmailVerified: true,
      name: 'Ann',
      groups: ['team', 'managers'],
    });
  });
}

test('groups are asked for only when they matter', async () => {
  await using fake = await startOpenidProvider({ redirectUri });
  fake.state.account = { sub: 'a-1', groups: ['team'] };
  assert.deepEqual((await signIn(providerOf(fake.issuer))).groups, []);
});

test('an address that is not verified is shown as such', async () => {
  await using fake = await startOpenidProvider({ redirectUri });
  fake.state.account = { sub: 'a-1', email: 'ann@acme.test', email_verified: false };
  assert.equal((await signIn(providerOf(fake.issuer))).isEmailVerified, false);
});

test('with fresh the provider asks again, and says when it did', async () => {
  await using fake = await startOpenidProvider({ redirectUri });
  const { authenticatedAt } = await signIn(providerOf(fake.issuer), { fresh: true });
  assert.ok(authenticatedAt && Date.now() - authenticatedAt.getTime() < 60_000);
});

for (const token_endpoint_auth_method of ['client_secret_basic', 'client_secret_post'] as const) {
  test(`a provider that expects ${token_endpoint_auth_method} gets the secret that way`, async () => {
    await using fake = await startOpenidProvider({
      redirectUri,
      client: { token_endpoint_auth_method },
    });
    assert.equal((await signIn(providerOf(fake.issuer))).subject, 'ann');
  });
}

test('a state of another flow is refused', async () => {
  await refusesWith((flow) => ({ ...flow, state: 'another' }));
});

test('a nonce of another flow is refused', async () => {
  await refusesWith((flow) => ({ ...flow, nonce: 'another' }));
});

test('a verifier of another flow is refused by the provider', async () => {
  await refusesWith((flow) => ({ ...flow, verifier: 'another'.repeat(7) }));
});

test('a code is taken once', async () => {
  await using fake = await startOpenidProvider({ redirectUri });
  const provider = providerOf(fake.issuer);
  const { url, flow } = await begun(provider);
  const { searchParams } = await passProvider(url, redirectUri);
  assert.ok('identity' in (await provider.finish(searchParams, flow)));
  assert.deepEqual(await provider.finish(searchParams, flow), {
    failed: 'refused',
    why: 'invalid_grant',
  });
});

test('an answer in the name of another provider is refused', async () => {
  await using fake = await startOpenidProvider({ redirectUri });
  const provider = providerOf(fake.issuer);
  const { url, flow } = await begun(provider);
  const { searchParams } = await passProvider(url, redirectUri);
  searchParams.set('iss', 'https://evil.test');
  assert.equal(failureOf(await provider.finish(searchParams, flow)).failed, 'refused');
});

test('a person who turns back has cancelled', async () => {
  await using fake = await startOpenidProvider({ redirectUri });
  fake.state.denies = true;
  const provider = providerOf(fake.issuer);
  const { url, flow } = await begun(provider);
  const { searchParams } = await passProvider(url, redirectUri);
  const failure = failureOf(await provider.finish(searchParams, flow));
  assert.deepEqual(failure, { failed: 'cancelled', why: 'access_denied' });
});

test('a code of an error that is too long for one is not repeated', async () => {
  await using fake = await startOpenidProvider({ redirectUri });
  for (const [error, why] of [
    ['e'.repeat(64), 'e'.repeat(64)],
    ['e'.repeat(65), 'unknown'],
    ['no word', 'unknown'],
  ] as const) {
    const provider = providerOf(fake.issuer);
    const { flow } = await begun(provider);
    const answer = new URLSearchParams({ error, state: flow.state, iss: fake.issuer });
    assert.deepEqual(await provider.finish(answer, flow), { failed: 'refused', why });
  }
});

test('a wrong secret is refused', async () => {
  await using fake = await startOpenidProvider({ redirectUri });
  const provider = providerOf(fake.issuer, 'another secret');
  const { url, flow } = await begun(provider);
  const { searchParams } = await passProvider(url, redirectUri);
  const failure = failureOf(await provider.finish(searchParams, flow));
  assert.deepEqual(failure, { failed: 'refused', why: 'invalid_client' });
});

test('a provider that is down is unreachable, and so is one that is not there', async () => {
  const fake = await startOpenidProvider({ redirectUri });
  fake.state.down = true;
  assert.equal(failureOf(await providerOf(fake.issuer).start()).failed, 'unreachable');
  await fake.close();
  assert.equal(failureOf(await providerOf(fake.issuer).start()).failed, 'unreachable');
});

test('a provider is asked once about itself, however many sign in', async () => {
  await using fake = await startOpenidProvider({ redirectUri });
  const provider = providerOf(fake.issuer);
  await Promise.all([1, 2, 3].map(() => begun(provider)));
  fake.state.down = true;
  await begun(provider);
  assert.deepEqual(fake.state.requests, ['GET /.well-known/openid-configuration']);
});

async function refusesWith(spoil: (flow: OidcFlow) => OidcFlow) {
  await using fake = await startOpenidProvider({ redirectUri });
  const provider = providerOf(fake.issuer);
  const { url, flow } = await begun(provider);
  const { searchParams } = await passProvider(url, redirectUri);
  assert.equal(failureOf(await provider.finish(searchParams, spoil(flow))).failed, 'refused');
}

async function signIn(
  provider: Provider,
  options?: { fresh?: boolean; groups?: boolean },
): Promise<OidcIdentity> {
  const { url, flow } = await begun(provider, options);
  const { searchParams } = await passProvider(url, redirectUri);
  const finished = await provider.finish(searchParams, flow);
  assert.ok('identity' in finished, JSON.stringify(finished));
  return finished.identity;
}

async function begun(provider: Provider, options?: { fresh?: boolean; groups?: boolean }) {
  const started = await provider.start(options);
  assert.ok('url' in started, JSON.stringify(started));
  return started;
}

function failureOf(outcome: object): OidcFailure {
  assert.ok('failed' in outcome, JSON.stringify(outcome));
  return outcome as OidcFailure;
}
