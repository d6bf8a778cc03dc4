import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { hashPassword } from '../../src/members/password.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { joinOrganization, makeMember, slugOfOrganization } from '../support/make/session.ts';
import { testSettings } from '../support/make/settings.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { visitorBrowser } from '../support/probe/visitor.ts';

const { db } = await testDatabase();
const app = bareApp(db);
const password = 'glass heron tuesday';
const password_hash = await hashPassword(password, { address: 'test' });

/** A member with an organization and a separate client address. */
async function memberWithPassword() {
  const email = `${randomUUID()}@People.test`;
  const id = await makeMember(db, { email, password_hash });
  const org = await makeOrganization(db);
  await joinOrganization(db, { org, member: id, role: 'owner' });
  const browser = visitorBrowser(app);
  return { id, email, home: `/o/${await slugOfOrganization(db, org)}`, browser };
}

const eventsOf = (id: string) =>
  db<{ act: string }[]>`select act from audit_events where actor_id = ${id} order by at, id`;

test('a member signs in by email in any case, and the audit log records it', async () => {
  const { id, email, home, browser } = await memberWithPassword();
  const page = `${home}/settings/api-keys`;
  const asked = await browser.get(page);
  const signIn = asked.headers.get('Location')!;
  const form = { email: ` ${email.toUpperCase()} `, password };
  const answer = await browser.post(signIn, form, { 'User-Agent': 'Browser/1.0' });
  const sessions = await db`select user_agent from sessions where member_id = ${id}`;
  assert.deepEqual([...sessions], [{ user_agent: 'Browser/1.0' }]);
  assert.deepEqual([answer.status, answer.headers.get('Location')], [303, page]);
  assert.equal((await browser.get(page)).status, 200);

  const [cookie] = answer.headers.getSetCookie();
  assert.match(
    cookie!,
    /^__Host-askback=[\w-]{43}; Max-Age=7776000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  assert.deepEqual(
    (await eventsOf(id)).map(({ act }) => act),
    ['session.started'],
  );
});

test('the session cookie has another name over plain http', async () => {
  const { email } = await memberWithPassword();
  const browser = visitorBrowser(bareApp(db, { publicUrl: 'http://127.0.0.1:8080' }));
  const answer = await browser.post('/sign-in', { email, password });
  assert.match(
    answer.headers.getSetCookie()[0]!,
    /^askback_session=[\w-]{43}; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/,
  );
});

test('a wrong password and an unknown email get the same page', async () => {
  const { email, browser } = await memberWithPassword();
  const pageOf = async (typed: string, word = 'wrong heron tuesday') => {
    const answer = await browser.post('/sign-in', { email: typed, password: word });
    assert.equal(answer.status, 422);
    assert.deepEqual(answer.headers.getSetCookie(), []);
    return (await answer.text()).replaceAll(typed, 'EMAIL');
  };
  const known = await pageOf(email);
  assert.match(known, /Wrong email or password/);
  assert.match(known, /EMAIL/);
  assert.ok(!known.includes('wrong heron'));
  assert.equal(await pageOf(`${randomUUID()}@people.test`), known);
  assert.equal(await pageOf('no address'), known);
});

test('sign-in replaces any session that the browser had', async () => {
  const { email, home, browser } = await memberWithPassword();
  await browser.post('/sign-in', { email, password });
  const before = browser.cookie('__Host-askback');
  await browser.post('/sign-in', { email, password });
  assert.notEqual(browser.cookie('__Host-askback'), before);

  const thief = visitorBrowser(app, { '__Host-askback': before! });
  assert.equal((await thief.get(home)).status, 303);

  const planted = visitorBrowser(app, { '__Host-askback': 'a'.repeat(43) });
  await planted.post('/sign-in', { email, password });
  assert.notEqual(planted.cookie('__Host-askback'), 'a'.repeat(43));
});

test('sign-out invalidates copies of the cookie', async () => {
  const { id, email, home, browser } = await memberWithPassword();
  await browser.post('/sign-in', { email, password });
  const thief = visitorBrowser(app, { '__Host-askback': browser.cookie('__Host-askback')! });
  assert.equal((await thief.get(`${home}/settings/general`)).status, 200);
  const answer = await browser.post('/sign-out');
  assert.deepEqual([answer.status, answer.headers.get('Location')], [303, '/sign-in']);
  assert.equal(browser.cookie('__Host-askback'), undefined);
  assert.match(
    (await thief.get(`${home}/settings/general`)).headers.get('Location')!,
    /^\/sign-in/,
  );
  assert.deepEqual(
    (await eventsOf(id)).map(({ act }) => act),
    ['session.started', 'session.ended'],
  );
});

test('forms of other sites, sibling hosts and opaque origins are refused', async () => {
  const { email } = await memberWithPassword();
  const status = async (headers: Record<string, string>) => {
    const answer = await visitorBrowser(app).post('/sign-in', { email, password }, headers);
    return [answer.status, answer.headers.getSetCookie().length];
  };
  for (const headers of [
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site', Origin: 'https://other.askback.test' },
    { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://askback.test' },
    { Origin: 'https://evil.test' },
    { Origin: 'https://askback.test.evil.test' },
    { Origin: 'http://askback.test' },
    { Origin: 'null' },
  ]) {
    assert.deepEqual(await status(headers), [403, 0], JSON.stringify(headers));
  }
  assert.deepEqual(await status({ Origin: 'https://askback.test' }), [303, 1]);
  assert.deepEqual(await status({ 'Sec-Fetch-Site': 'same-origin', Origin: 'null' }), [303, 1]);
});

test('the right password waits after ten wrong ones', async () => {
  const { email, browser } = await memberWithPassword();
  for (let n = 0; n < 10; n++) {
    assert.equal((await browser.post('/sign-in', { email, password: 'wrong' })).status, 422);
  }
  const late = await browser.post('/sign-in', { email, password });
  assert.equal(late.status, 429);
  assert.ok(Number(late.headers.get('Retry-After')) > 800);
});

test('an owner action asks for the right password again', async () => {
  const { id, email, home, browser } = await memberWithPassword();
  await browser.post('/sign-in', { email, password });
  await db`update sessions set proved_at = now() - interval '2 hours' where member_id = ${id}`;
  const form = `${home}/settings/api-keys/new`;
  const prove = (await browser.get(form)).headers.get('Location')!;
  assert.equal(prove, `/account/prove?next=${encodeURIComponent(form)}`);
  assert.match(await (await browser.get(prove)).text(), /Confirm it/);
  assert.equal((await browser.post(prove, { password: 'wrong' })).status, 422);
  assert.equal((await browser.get(form)).status, 303);
  assert.equal((await browser.post(prove, { password })).headers.get('Location'), form);
  assert.equal((await browser.get(form)).status, 200);
});

test('password sign-in has no form and is refused when it is off', async () => {
  const { email } = await memberWithPassword();
  const settings = { ...testSettings, signIn: { byPassword: false, oidc: null } };
  const browser = visitorBrowser(bareApp(db, { settings }));
  assert.ok(!(await (await browser.get('/sign-in')).text()).includes('type="password"'));
  assert.equal((await browser.post('/sign-in', { email, password })).status, 403);
});
