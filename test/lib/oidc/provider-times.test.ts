import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOidcProvider } from '../../../src/lib/oidc/provider.ts';
import {
  clientId,
  clientSecret,
  startOpenidProvider,
} from '../../support/fakes/openid-provider.ts';

const redirectUri = 'http://127.0.0.1:9/sign-in/oidc/callback';

const providerOf = (issuer: string) =>
  createOidcProvider({ issuer, clientId, clientSecret, redirectUri });

async function begun(provider: ReturnType<typeof providerOf>) {
  const started = await provider.start();
  assert.ok('url' in started, JSON.stringify(started));
}

test('what a provider says of itself is kept for an hour', async (t) => {
  await using fake = await startOpenidProvider({ redirectUri });
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  const provider = providerOf(fake.issuer);
  await begun(provider);
  const asked = fake.state.requests.length;
  now += 3_600_000 - 1;
  await begun(provider);
  assert.equal(fake.state.requests.length, asked);
  now += 1;
  await begun(provider);
  assert.equal(fake.state.requests.length, 2 * asked);
});

test('what is known of a provider is used on while it is down, and it is asked again every two seconds', async (t) => {
  await using fake = await startOpenidProvider({ redirectUri });
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  const provider = providerOf(fake.issuer);
  await begun(provider);
  fake.state.down = true;
  const asked: number[] = [];
  for (const later of [3_600_000, 1999, 1, 1999, 1]) {
    now += later;
    await begun(provider);
    asked.push(fake.state.requests.length);
  }
  const [first] = asked as [number];
  assert.deepEqual(asked, [first, first, first + 1, first + 1, first + 2]);
});

test('a provider that has failed is asked again after two seconds', async (t) => {
  await using fake = await startOpenidProvider({ redirectUri });
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  const provider = providerOf(fake.issuer);
  fake.state.down = true;
  await provider.start();
  fake.state.down = false;
  now += 1999;
  assert.partialDeepStrictEqual(await provider.start(), { failed: 'unreachable' });
  now += 1;
  await begun(provider);
});
