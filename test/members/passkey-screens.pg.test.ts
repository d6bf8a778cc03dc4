import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { commandActor } from '../../src/audit/acts.ts';
import {
  addPasskey,
  createRegistrationOptions,
  findRelyingParty,
} from '../../src/members/passkeys.ts';
import { createAuthenticator } from '../support/fakes/authenticator.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { joinOrganization, makeMember, slugOfOrganization } from '../support/make/session.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { noticeOf } from '../support/probe/notice.ts';
import { visitorBrowser } from '../support/probe/visitor.ts';

const { db } = await testDatabase();
const app = bareApp(db);
const relyingParty = findRelyingParty('https://askback.test')!;

async function memberWithPasskey({ counter }: { counter?: number } = {}) {
  const id = await makeMember(db, { email: `${randomUUID()}@people.test` });
  const org = await makeOrganization(db);
  await joinOrganization(db, { org, member: id, role: 'owner' });
  const key = createAuthenticator(relyingParty.origin);
  const options = await createRegistrationOptions(
    { db, relyingParty },
    { id, email: 'a@people.test', name: 'Ann' },
  );
  const credential = key.create(options, counter === undefined ? {} : { counter });
  const own = { memberId: id, actor: commandActor() };
  const { challenge } = options;
  assert.ok(await addPasskey({ db, relyingParty }, own, { credential, challenge, name: 'Key' }));
  const home = `/o/${await slugOfOrganization(db, org)}/settings/api-keys`;
  return { id, key, home, browser: visitorBrowser(app) };
}

type Browser = ReturnType<typeof visitorBrowser>;

async function ask(browser: Browser): Promise<{ challenge: string; rpId: string }> {
  const answer = await browser.post('/sign-in/passkey/options', {});
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('Cache-Control'), 'no-store');
  return (await answer.json()) as { challenge: string; rpId: string };
}

const give = (browser: Browser, credential: string, next = '/') =>
  browser.post(`/sign-in/passkey?next=${encodeURIComponent(next)}`, { credential });

test('passkey sign-in returns to the requested page', async () => {
  const { id, key, home, browser } = await memberWithPasskey();
  const answer = await give(browser, key.get(await ask(browser)), home);
  assert.deepEqual([answer.status, answer.headers.get('Location')], [303, home]);
  assert.equal((await browser.get(home)).status, 200);
  const [event] = await db<{ details: object }[]>`
    select details from audit_events where actor_id = ${id} and act = 'session.started'`;
  assert.deepEqual(event?.details, { by: 'passkey' });
});

test('a passkey answer works once, even with a copied cookie', async () => {
  const { key, home, browser } = await memberWithPasskey({ counter: 0 });
  const credential = key.get(await ask(browser), { counter: 0 });
  const cookies = browser.cookies();
  const copy = visitorBrowser(app, cookies);
  await give(browser, credential);
  assert.equal((await browser.get(home)).status, 200);
  await give(copy, credential);
  assert.equal((await copy.get(home)).status, 303);
  const entries = Object.entries(cookies).map(([name, value]) => [name, `${value}=`]);
  const padded = visitorBrowser(app, Object.fromEntries(entries));
  await give(padded, credential);
  assert.equal((await padded.get(home)).status, 303);
});

test('a passkey answer in another browser is refused', async () => {
  const { key, home, browser } = await memberWithPasskey();
  const other = visitorBrowser(app);
  const refused = await give(other, key.get(await ask(browser)));
  assert.equal(refused.headers.get('Location'), '/sign-in');
  const text = 'The passkey request expired. Try again.';
  assert.deepEqual(noticeOf(refused), { kind: 'failed', text });
  assert.equal((await other.get(home)).status, 303);
});

const unknownKey = 'This passkey is unknown or was refused. Sign in another way.';

test('the sign-in page reports an unknown passkey', async () => {
  const browser = visitorBrowser(app);
  const stranger = createAuthenticator(relyingParty.origin);
  const refused = await give(browser, stranger.get(await ask(browser)), '/account');
  assert.equal(refused.headers.get('Location'), '/sign-in?next=%2Faccount');
  assert.deepEqual(noticeOf(refused), { kind: 'failed', text: unknownKey });
  assert.match(await (await browser.get('/sign-in')).text(), /This passkey is unknown/);
});

test('a passkey only renews the proof of its member', async () => {
  const [ann, bob] = [await memberWithPasskey(), await memberWithPasskey()];
  await give(ann.browser, ann.key.get(await ask(ann.browser)));
  const proofOf = async () => {
    const [row] = await db<{ old: boolean }[]>`
      select proved_at < now() - interval '1 hour' as old from sessions where member_id = ${ann.id}`;
    return row!.old ? 'old' : 'recent';
  };
  await db`update sessions set proved_at = now() - interval '2 hours' where member_id = ${ann.id}`;

  const prove = async (credential: string) =>
    await ann.browser.post('/account/prove/passkey?next=%2Faccount', { credential });
  const refused = await prove(bob.key.get(await ask(ann.browser)));
  assert.equal(refused.headers.get('Location'), '/account/prove?next=%2Faccount');
  assert.deepEqual(noticeOf(refused), { kind: 'failed', text: unknownKey });
  assert.equal(await proofOf(), 'old');

  const proved = await prove(ann.key.get(await ask(ann.browser)));
  assert.equal(proved.headers.get('Location'), '/account');
  assert.equal(await proofOf(), 'recent');
});

test("passkeys are not offered where browsers don't support them", async () => {
  const browser = visitorBrowser(bareApp(db, { publicUrl: 'http://192.0.2.1' }));
  assert.equal((await browser.post('/sign-in/passkey/options', {})).status, 404);
  assert.doesNotMatch(await (await browser.get('/sign-in')).text(), /passkey/i);
});
