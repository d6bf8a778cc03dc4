import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { deviceName } from '../../src/members/account.ts';
import { pendingSecret } from '../../src/members/codes.ts';
import { hashPassword } from '../../src/members/password.ts';
import { createAuthenticator } from '../support/fakes/authenticator.ts';
import { codeOf, wrongCode } from '../support/make/codes.ts';
import { makeMember } from '../support/make/session.ts';
import { testSettings } from '../support/make/settings.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { noticeOf } from '../support/probe/notice.ts';
import { visitorBrowser } from '../support/probe/visitor.ts';

const { db } = await testDatabase();
const secrets = createSecrets([Buffer.alloc(32, 9)]);
const app = bareApp(db, { secrets });
const password = 'glass heron tuesday';
const password_hash = await hashPassword(password, { address: 'test' });

type Browser = ReturnType<typeof visitorBrowser>;

async function signedInMember() {
  const email = `${randomUUID()}@people.test`;
  const id = await makeMember(db, { email, password_hash });
  const signIn = async () => {
    const browser = visitorBrowser(app);
    await browser.post('/sign-in', { email, password });
    return browser;
  };
  return { id, email, signIn, browser: await signIn() };
}

const isIn = async (browser: Browser) => (await browser.get('/account')).status === 200;
const page = async (browser: Browser, path = '/account') => await (await browser.get(path)).text();

const actsOf = async (id: string) => {
  const rows = await db<{ act: string }[]>`
    select act from audit_events where target_id = ${id} order by at, id`;
  return rows.map(({ act }) => act).filter((act) => !act.startsWith('session.'));
};

async function grow(id: string) {
  await db`update sessions set proved_at = now() - interval '2 hours' where member_id = ${id}`;
}

test('a member changes the name, and sees errors at the field', async () => {
  const { id, browser } = await signedInMember();
  const wrong = await browser.post('/account/name', { name: ' ' });
  assert.equal(wrong.status, 422);
  assert.match(await wrong.text(), /Enter a name\./);
  assert.equal((await browser.post('/account/name', { name: 'Ann <b>Lee</b>' })).status, 303);
  const text = await page(browser);
  assert.match(text, /Name saved\./);
  assert.match(text, /Ann &lt;b&gt;Lee&lt;\/b&gt;/);
  assert.deepEqual(await actsOf(id), ['member.changed']);
});

test('a new password ends the other sessions and replaces the old one', async () => {
  const { id, email, browser, signIn } = await signedInMember();
  const other = await signIn();
  const words = { current_password: password, new_password: 'copper kettle sunday' };
  assert.equal((await browser.post('/account/password', words)).status, 303);
  assert.ok(await isIn(browser));
  assert.equal(await isIn(other), false);
  const again = visitorBrowser(app);
  assert.equal((await again.post('/sign-in', { email, password })).status, 422);
  const answer = await again.post('/sign-in', { email, password: words.new_password });
  assert.equal(answer.status, 303);
  assert.deepEqual(await actsOf(id), ['member.password_changed']);
});

const refusedPasswords: [what: string, form: Record<string, string>, says: RegExp][] = [
  [
    'a wrong current one',
    { current_password: 'x', new_password: 'copper kettle sunday' },
    /not your current/,
  ],
  ['no current one', { new_password: 'copper kettle sunday' }, /Required/],
  ['a short one', { current_password: password, new_password: 'short' }, /12 characters or more/],
];
for (const [what, form, says] of refusedPasswords) {
  test(`a new password with ${what} is refused and not sent back`, async () => {
    const { email, browser, signIn } = await signedInMember();
    const answer = await browser.post('/account/password', form);
    assert.equal(answer.status, 422);
    const text = await answer.text();
    assert.match(text, says);
    assert.ok(!text.includes('copper kettle'));
    assert.ok(await isIn(await signIn()), email);
  });
}

test('an account without a password sets one after a recent proof', async () => {
  const { id, browser } = await signedInMember();
  await db`update members set password_hash = null where id = ${id}`;
  await grow(id);
  const words = { new_password: 'copper kettle sunday' };
  const old = await browser.post('/account/password', words);
  assert.match(old.headers.get('Location')!, /^\/account\/prove/);
  await db`update sessions set proved_at = now() where member_id = ${id}`;
  assert.equal(
    (await browser.post('/account/password', words)).headers.get('Location'),
    '/account',
  );
});

test('a code turns on two-step verification and shows recovery codes once', async () => {
  const { id, browser } = await signedInMember();
  assert.equal(
    (await browser.post('/account/codes')).headers.get('Location'),
    '/account/codes/new',
  );
  const shown = await page(browser, '/account/codes/new');
  assert.match(shown, /<svg class="qr"/);
  assert.match(shown, /([A-Z2-7]{4} ){7}[A-Z2-7]{4}/);
  const secret = (await pendingSecret({ db, secrets }, id))!;
  const wrong = await browser.post('/account/codes/new', { code: wrongCode(secret) });
  assert.equal(wrong.status, 422);

  const on = await browser.post('/account/codes/new', { code: codeOf(secret) });
  assert.equal(on.headers.get('Location'), '/account/codes/recovery');
  const recovery = await page(browser, '/account/codes/recovery');
  assert.equal(recovery.match(/([a-z2-7]{4}-){3}[a-z2-7]{4}/g)?.length, 10);
  assert.equal((await browser.get('/account/codes/recovery')).status, 303);

  assert.match(await page(browser), /10 recovery codes left/);
  await browser.post('/account/codes/renew');
  await browser.post('/account/codes/off');
  assert.match(await page(browser), /Turn on/);
  const acts = ['member.codes_on', 'member.codes_renewed', 'member.codes_off'];
  assert.deepEqual(await actsOf(id), acts);
});

test('another member cannot open recovery codes', async () => {
  const [ann, bob] = [await signedInMember(), await signedInMember()];
  await ann.browser.post('/account/codes');
  const secret = (await pendingSecret({ db, secrets }, ann.id))!;
  await ann.browser.post('/account/codes/new', { code: codeOf(secret) });
  const stolen = visitorBrowser(app, {
    ...bob.browser.cookies(),
    '__Host-askback-once': ann.browser.cookie('__Host-askback-once')!,
  });
  assert.equal((await stolen.get('/account/codes/recovery')).status, 303);
});

test('a passkey is added and removed', async () => {
  const { id, browser } = await signedInMember();
  const key = createAuthenticator('https://askback.test');
  const offered = await browser.post('/account/passkeys/options');
  assert.equal(offered.headers.get('Cache-Control'), 'no-store');
  const options = await offered.json();
  const credential = key.create(options as Parameters<typeof key.create>[0]);
  const added = await browser.post('/account/passkeys', { name: 'My laptop', credential });
  assert.equal(added.headers.get('Location'), '/account');
  const text = 'Passkey added. You can now sign in with it.';
  assert.deepEqual(noticeOf(added), { kind: 'fine', text });
  assert.match(await page(browser), /My laptop/);

  const remove = `/account/passkeys/${key.id}/remove`;
  assert.match(await page(browser, remove), /Remove the passkey “My laptop”/);
  await browser.post(remove);
  assert.doesNotMatch(await page(browser), /My laptop/);
  assert.deepEqual(await actsOf(id), ['member.passkey_added', 'member.passkey_removed']);
});

test('a passkey created for another session is not added', async () => {
  const [ann, mallory] = [await signedInMember(), await signedInMember()];
  const key = createAuthenticator('https://askback.test');
  const options = await (await mallory.browser.post('/account/passkeys/options')).json();
  const credential = key.create(options as Parameters<typeof key.create>[0]);
  const planted = visitorBrowser(app, {
    ...ann.browser.cookies(),
    '__Host-askback-passkey': mallory.browser.cookie('__Host-askback-passkey')!,
  });
  const answer = await planted.post('/account/passkeys', { name: 'Planted', credential });
  assert.equal(answer.headers.get('Location'), '/account/passkeys/new');
  const text = 'The passkey was not accepted. Try again.';
  assert.deepEqual(noticeOf(answer), { kind: 'failed', text });
  assert.doesNotMatch(await page(ann.browser), /Planted/);
});

test('a member lists and ends only their own sessions', async () => {
  const { id, browser, signIn } = await signedInMember();
  const [second, third] = [await signIn(), await signIn()];
  assert.equal((await page(browser)).match(/This browser/g)?.length, 1);
  assert.match(await page(browser), /Device<[\s\S]*?<tbody>(?:(?!<\/tr>)[\s\S])*This browser/);
  const [newest] = await db<{ id: string }[]>`
    select id from sessions where member_id = ${id} order by created_at desc limit 1`;
  await browser.post(`/account/sessions/${newest!.id}/end`);
  assert.deepEqual([await isIn(second), await isIn(third)], [true, false]);

  const stranger = await signedInMember();
  const [own] = await db<
    { id: string }[]
  >`select id from sessions where member_id = ${stranger.id}`;
  assert.equal((await browser.post(`/account/sessions/${own!.id}/end`)).status, 404);
  assert.ok(await isIn(stranger.browser));

  const ended = async () =>
    (await db`select from audit_events where target_id = ${id} and act = 'session.ended'`).length;
  const before = await ended();
  await browser.post('/account/sessions/end');
  assert.deepEqual([await isIn(browser), await isIn(second)], [true, false]);
  assert.equal(await ended(), before + 1);
  await browser.post('/account/sessions/end');
  assert.equal(await ended(), before + 1, 'there was no other session');
});

const needRecent: [method: 'get' | 'post', path: string][] = [
  ['get', '/account/passkeys/new'],
  ['post', '/account/passkeys/options'],
  ['post', '/account/passkeys'],
  ['post', '/account/codes'],
  ['get', '/account/codes/new'],
  ['post', '/account/codes/new'],
  ['get', '/account/codes/off'],
  ['post', '/account/codes/off'],
  ['get', '/account/codes/renew'],
  ['post', '/account/codes/renew'],
];
const { id: oldId, browser: oldBrowser } = await signedInMember();
await grow(oldId);
for (const [method, path] of needRecent) {
  test(`${method} ${path} requires a new proof after two hours`, async () => {
    const answer = await oldBrowser[method](path);
    assert.equal(answer.status, 303);
    assert.match(answer.headers.get('Location')!, /^\/account\/prove/);
  });
}

test('the account page hides passwords and codes when passwords are off', async () => {
  const { browser } = await signedInMember();
  const settings = { ...testSettings, signIn: { byPassword: false, oidc: null } };
  const off = visitorBrowser(bareApp(db, { secrets, settings }), browser.cookies());
  const text = await page(off);
  assert.doesNotMatch(text, /New password|Two-step/);
  assert.equal((await off.post('/account/password', { new_password: 'x' })).status, 404);
  assert.equal((await off.post('/account/codes')).status, 404);
  assert.doesNotMatch(await page(off, '/account/prove'), /type="password"/);
});

test('deviceName recognizes browsers whose User-Agent names others too', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  for (const [userAgent, name] of [
    [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/140.0 Safari/537.36`, 'Chrome on Linux'],
    [`Mozilla/5.0 (X11; Linux) ${webkit} HeadlessChrome/140.0 Safari/537.36`, 'Chrome on Linux'],
    [`Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/140.0 Edg/140.0`, 'Edge on Windows'],
    ['Mozilla/5.0 (iPhone; like Mac OS X) Version/18.0 Safari/604.1', 'Safari on iPhone'],
    [`Mozilla/5.0 (Linux; Android 15) ${webkit} Chrome/140.0 Safari/537.36`, 'Chrome on Android'],
    ['Firefox/143.0', 'Firefox'],
    ['curl/8.0', 'Unknown device'],
    [null, 'Unknown device'],
  ] as const) {
    assert.equal(deviceName(userAgent), name);
  }
});
