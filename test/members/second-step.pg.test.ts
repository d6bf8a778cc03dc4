import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { commandActor } from '../../src/audit/acts.ts';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { countProof } from '../../src/members/attempts.ts';
import { createTotpSecret, pendingSecret, turnOnCodes } from '../../src/members/codes.ts';
import { hashPassword } from '../../src/members/password.ts';
import { codeOf, wrongCode } from '../support/make/codes.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { joinOrganization, makeMember, slugOfOrganization } from '../support/make/session.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { visitorBrowser } from '../support/probe/visitor.ts';

const { db } = await testDatabase();
const secrets = createSecrets([Buffer.alloc(32, 7)]);
const app = bareApp(db, { secrets });
const password = 'glass heron tuesday';
const password_hash = await hashPassword(password, { address: 'test' });

/** A member with two-step verification who has just given the right password. */
async function halfSignedIn() {
  const email = `${randomUUID()}@people.test`;
  const id = await makeMember(db, { email, password_hash });
  const org = await makeOrganization(db);
  await joinOrganization(db, { org, member: id, role: 'owner' });
  const own = { memberId: id, actor: commandActor() };
  await createTotpSecret({ db, secrets }, id);
  const secret = (await pendingSecret({ db, secrets }, id))!;
  const recovery = await turnOnCodes({ db, secrets }, own, codeOf(secret));
  const home = `/o/${await slugOfOrganization(db, org)}/settings/api-keys`;
  const browser = visitorBrowser(app);
  const answer = await browser.post(`/sign-in?next=${home}`, { email, password });
  assert.equal(answer.headers.get('Location'), `/sign-in/code?next=${encodeURIComponent(home)}`);
  return { id, email, home, browser, secret, recovery: recovery! };
}

const isIn = async ({ browser, home }: Pick<Half, 'browser' | 'home'>) =>
  (await browser.get(home)).status === 200;
type Half = Awaited<ReturnType<typeof halfSignedIn>>;

test('the right password only opens the second step', async () => {
  const half = await halfSignedIn();
  assert.equal(await isIn(half), false);
  assert.equal((await half.browser.get('/account/prove')).status, 303);
  const page = await half.browser.get('/sign-in/code');
  assert.equal(page.status, 200);
  assert.match(await page.text(), /autocomplete="one-time-code"/);
});

test('a code starts a new session and returns to the requested page', async () => {
  const half = await halfSignedIn();
  const answer = await half.browser.post(`/sign-in/code?next=${half.home}`, {
    code: codeOf(half.secret, 1),
  });
  assert.deepEqual([answer.status, answer.headers.get('Location')], [303, half.home]);
  assert.match(answer.headers.getSetCookie()[0]!, /^__Host-askback=[\w-]{43};/);
  assert.ok(await isIn(half));
  const sessions = await db`select from sessions where member_id = ${half.id}`;
  assert.equal(sessions.length, 1);
});

test('a recovery code signs in once', async () => {
  const half = await halfSignedIn();
  const code = half.recovery[0]!;
  assert.equal((await half.browser.post('/sign-in/code?recovery', { code })).status, 303);
  assert.ok(await isIn(half));

  const again = visitorBrowser(app);
  await again.post('/sign-in', { email: half.email, password });
  const refused = await again.post('/sign-in/code?recovery', { code });
  assert.equal(refused.status, 422);
  assert.match(await refused.text(), /Recovery code/);
  assert.equal(await isIn({ ...half, browser: again }), false);
});

test('a recovery code works when codes are locked for the day', async () => {
  const half = await halfSignedIn();
  const account = `code ${half.id}`;
  for (let n = 0; n < 100; n++) await countProof(db, { account, address: `198.51.100.${n}` });
  const limited = await half.browser.post('/sign-in/code', { code: codeOf(half.secret, 1) });
  assert.equal(limited.status, 429);
  await half.browser.post('/sign-in/code?recovery', { code: half.recovery[0]! });
  assert.ok(await isIn(half));
});

test('the right code waits after ten wrong ones', async () => {
  const half = await halfSignedIn();
  for (let n = 0; n < 10; n++) {
    const wrong = await half.browser.post('/sign-in/code', { code: wrongCode(half.secret) });
    assert.equal(wrong.status, 422);
  }
  const limited = await half.browser.post('/sign-in/code', { code: codeOf(half.secret, 1) });
  assert.equal(limited.status, 429);
  assert.ok(Number(limited.headers.get('Retry-After')) > 60);
  assert.equal(await isIn(half), false);
});
