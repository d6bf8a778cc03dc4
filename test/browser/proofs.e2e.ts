import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { totpCode } from '../../src/members/codes.ts';
import { hashPassword } from '../../src/members/password.ts';
import type { OidcSettings } from '../../src/settings.ts';
import { keepScreenshot, launchBrowser, violations } from '../e2e/browser.ts';
import { clientId, clientSecret, startOpenidProvider } from '../support/fakes/openid-provider.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { testSettings } from '../support/make/settings.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { serveApp } from './scene.ts';

const { db } = await testDatabase();
const browser = await launchBrowser();
const secrets = createSecrets([Buffer.alloc(32, 5)]);
const organization = await makeOrganization(db, { name: 'Larkspur', slug: 'larkspur' });
const password = 'glass heron tuesday';
const callback = '/sign-in/oidc/callback';
let base = '';
const fake = { issuer: '' };
await serveApp((address) => {
  // Browsers allow passkeys for this name, but not for an IP address.
  base = address.replace('127.0.0.1', 'localhost');
  return { fetch: (...given) => app.fetch(...given) };
});
const provider = await startOpenidProvider({ redirectUri: `${base}${callback}` });
after(() => provider.close());
fake.issuer = provider.issuer;
const oidc: OidcSettings = {
  issuer: fake.issuer,
  clientId,
  clientSecret,
  name: 'Larkspur Login',
  domains: [],
  organization,
  role: 'viewer',
  groups: [],
};
const settings = { ...testSettings, signIn: { byPassword: true, oidc } };
const app = bareApp(db, { publicUrl: base, secrets, settings });

async function memberWithPassword(email: string) {
  const password_hash = await hashPassword(password, { address: 'test' });
  const id = await makeMember(db, { email, name: 'Hana Moreau', password_hash });
  await joinOrganization(db, { org: organization, member: id, role: 'owner' });
  return id;
}

async function signInByPassword(page: Page, email: string) {
  await page.goto(`${base}/sign-in?next=/account`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Adds a virtual authenticator that confirms every request. */
async function addAuthenticator(context: BrowserContext, page: Page) {
  const session = await context.newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

test('a member adds a passkey, signs in with it, and confirms with it', async () => {
  const email = 'hana@people.test';
  const id = await memberWithPassword(email);
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await addAuthenticator(context, page);
  await signInByPassword(page, email);
  await page.getByRole('link', { name: 'Add a passkey' }).click();
  await page.getByLabel('Name').fill('Work laptop');
  assert.deepEqual(await violations(page), []);
  await keepScreenshot(page, 'app-account-passkey-new');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('status').getByText('Passkey added').waitFor();
  assert.deepEqual(await violations(page), []);
  await keepScreenshot(page, 'app-account-passkeys');

  await page.request.post(`${base}/sign-out`, { headers: { 'Sec-Fetch-Site': 'same-origin' } });
  await page.goto(`${base}/sign-in?next=/account`);
  assert.deepEqual(await violations(page), []);
  await keepScreenshot(page, 'app-sign-in-ways');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.waitForURL(`${base}/account`);

  await db`update sessions set proved_at = now() - interval '2 hours' where member_id = ${id}`;
  await page.getByRole('link', { name: 'Remove Work laptop' }).click();
  await page.getByRole('button', { name: 'Confirm with a passkey' }).waitFor();
  await keepScreenshot(page, 'app-account-prove-ways');
  await page.getByRole('button', { name: 'Confirm with a passkey' }).click();
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('status').getByText('Passkey removed').waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

test('a device without a passkey shows an error, and the page stays usable', async () => {
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  const page = await context.newPage();
  await addAuthenticator(context, page);
  await page.goto(`${base}/sign-in`);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('alert').getByText('No passkey was selected').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Sign in with a passkey' }).isEnabled());
  await context.close();
});

test('a member turns on and uses one-time codes without script', async () => {
  const email = 'lena@people.test';
  await memberWithPassword(email);
  const context = await browser.newContext({ javaScriptEnabled: false, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await signInByPassword(page, email);
  assert.equal(await page.getByRole('button', { name: 'passkey' }).count(), 0);
  await page.getByRole('button', { name: 'Turn on' }).click();
  const key = (await page.locator('#key').textContent())!.replaceAll(' ', '');
  await keepScreenshot(page, 'app-account-codes-new');
  const codeAt = (ahead: number) =>
    totpCode(fromBase32(key), Math.floor(Date.now() / 30_000) + ahead);
  await page.getByRole('textbox', { name: 'Code' }).fill(codeAt(0));
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('heading', { name: 'Two-step verification is on' }).waitFor();
  await keepScreenshot(page, 'app-account-recovery');
  const [recovery] = (await page.locator('#recovery').textContent())!.split('\n');

  await context.clearCookies();
  await signInByPassword(page, email);
  await keepScreenshot(page, 'app-sign-in-code');
  await page.getByRole('textbox', { name: 'Code' }).fill(codeAt(1));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${base}/account`);

  await context.clearCookies();
  await signInByPassword(page, email);
  await page.getByRole('link', { name: 'Use a recovery code' }).click();
  await page.getByLabel('Recovery code').fill(recovery!);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('9 recovery codes left').waitFor();
  await context.close();
});

test('a newcomer signs in with the provider without script', async () => {
  provider.state.account = {
    sub: 'viktor',
    email: 'viktor@people.test',
    email_verified: true,
    name: 'Viktor Lind',
  };
  const context = await browser.newContext({ javaScriptEnabled: false, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(`${base}/sign-in?next=/account`);
  await page.getByRole('link', { name: 'Sign in with Larkspur Login' }).click();
  await page.waitForURL(`${base}/account`);
  await page.goto(`${base}${callback}?code=x&state=y`);
  await page.getByText('It was started in another browser').waitFor();
  await keepScreenshot(page, 'app-sign-in-late');
  await context.close();
});

/** Decodes a secret as typed into an authenticator app. */
function fromBase32(text: string): Buffer {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...text].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0'));
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
