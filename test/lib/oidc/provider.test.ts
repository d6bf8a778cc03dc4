import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createOidcProvider,
  type OidcFailure,
  type OidcFlow,
  type OidcIdentity,
  readIdentity,
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
  test(`returns an identity with its claims ${where}`, async () => {
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

test('with fresh, the provider asks again and returns the time', async () => {
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

test('a state of another flow is rejected', async () => {
  await refusesWith((flow) => ({ ...flow, state: 'another' }));
});

test('a nonce of another flow is rejected', async () => {
  await refusesWith((flow) => ({ ...flow, nonce: 'another' }));
});

test('a verifier of another flow is rejected by the provider', async () => {
  await refusesWith((flow) => ({ ...flow, verifier: 'another'.repeat(7) }));
});

test('a code is accepted once', async () => {
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

test('a response of another issuer is rejected', async () => {
  await using fake = await startOpenidProvider({ redirectUri });
  const provider = providerOf(fake.issuer);
  const { url, flow } = await begun(provider);
  const { searchParams } = await passProvider(url, redirectUri);
  searchParams.set('iss', 'https://evil.test');
  assert.equal(failureOf(await provider.finish(searchParams, flow)).failed, 'refused');
});

test('a wrong secret is rejected', async () => {
  await using fake = await startOpenidProvider({ redirectUri });
  const provider = providerOf(fake.issuer, 'another secret');
  const { url, flow } = await begun(provider);
  const { searchParams } = await passProvider(url, redirectUri);
  const failure = failureOf(await provider.finish(searchParams, flow));
  assert.deepEqual(failure, { failed: 'refused', why: 'invalid_client' });
});

test('a provider that is down or missing is unreachable', async () => {
  const fake = await startOpenidProvider({ redirectUri });
  fake.state.down = true;
  assert.equal(failureOf(await providerOf(fake.issuer).start()).failed, 'unreachable');
  await fake.close();
  assert.equal(failureOf(await providerOf(fake.issuer).start()).failed, 'unreachable');
});

test('discovery is cached for an hour, and longer during an outage', async (t) => {
  await using fake = await startOpenidProvider({ redirectUri });
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  const provider = providerOf(fake.issuer);
  await begun(provider);
  const asked = fake.state.requests.length;
  now += 3_600_000 - 1;
  await begun(provider);
  assert.equal(fake.state.requests.length, asked);
  fake.state.down = true;
  now += 1;
  await begun(provider);
  fake.state.down = false;
  now += 2000;
  await begun(provider);
  assert.equal(fake.state.requests.length, asked + 2);
});

test('concurrent sign-ins share one discovery', async () => {
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

test('claims of another type count as absent', () => {
  const odd = { email: 7, name: ['x'], groups: { a: 1 }, auth_time: 'yesterday' };
  assert.deepEqual(readIdentity({ ...least, ...odd }), readIdentity(least));
});

test('groups may be one string, and other types are dropped', () => {
  assert.deepEqual(readIdentity({ ...least, groups: 'team' }).groups, ['team']);
  assert.deepEqual(readIdentity({ ...least, groups: ['team', 7, null] }).groups, ['team']);
});

for (const sub of [undefined, '', 7, 'x'.repeat(256)]) {
  test(`the subject ${String(sub).slice(0, 9)} is rejected`, () => {
    assert.throws(() => readIdentity({ ...least, sub }));
  });
}
