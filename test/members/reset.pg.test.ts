import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createAppMailer } from '../../src/app-mailer.ts';
import { commandActor } from '../../src/audit/acts.ts';
import type { JobPayloads } from '../../src/jobs.ts';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { TurnedAway } from '../../src/lib/queue/task.ts';
import { createMailbox } from '../../src/mailbox/mailbox.ts';
import { changeName, unlinkSso } from '../../src/members/account.ts';
import { countProof } from '../../src/members/attempts.ts';
import { turnOffCodes } from '../../src/members/codes.ts';
import { mailNotice, mailReset } from '../../src/members/mail.ts';
import { hashPassword } from '../../src/members/password.ts';
import { createResetLink } from '../../src/members/reset.ts';
import { busy } from '../support/make/mail-outcomes.ts';
import { makeMember, signIn } from '../support/make/session.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { visitorBrowser } from '../support/probe/visitor.ts';

const { db } = await testDatabase();
const app = bareApp(db);
const publicUrl = 'https://askback.test';
const old_hash = await hashPassword('glass heron tuesday', { address: 'test' });

const newAddress = () => `${randomUUID()}@people.test`;

async function memberWithPassword() {
  const email = newAddress();
  return { email, id: await makeMember(db, { email, password_hash: old_hash }) };
}

const jobsFor = (email: string) =>
  db<{ payload: { email: string } }[]>`
    select payload from test.jobs where task = 'members.mail_reset' and payload ->> 'email' = ${email}`;

const appMailer = createAppMailer({
  transport: createMailbox(db),
  dkim: null,
  mailFrom: null,
  publicUrl,
});

async function mailsTo(email: string) {
  const mails = await db<{ raw: Buffer }[]>`
    select raw from mailbox_messages where rcpt_to = ${email} order by id`;
  return mails.map(({ raw }) => raw.toString().replaceAll('=\r\n', ''));
}

/** The links that the job emails to an address, newest last. */
async function mailed(email: string) {
  const secrets = createSecrets([Buffer.alloc(32, 1)]);
  for (const { payload } of await jobsFor(email)) {
    await mailReset({ db, appMailer, secrets, publicUrl }, payload);
  }
  const mails = await mailsTo(email);
  return mails.map((mail) => /https:\/\/\S*\/reset\/[\w-]{43}/.exec(mail)?.[0] ?? '');
}

test('the reset link works once and ends all sessions and other links', async () => {
  const { id, email } = await memberWithPassword();
  const cookie = await signIn(db, { member: id });
  const browser = visitorBrowser(app);
  await browser.post('/forgot', { email });
  await browser.post('/forgot', { email });
  const [first = '', second = ''] = (await mailed(email)).map((url) => url.slice(publicUrl.length));
  assert.match(await (await browser.get(first)).text(), /Set a new password/);

  const answer = await browser.post(first, { password: 'nine blue kettles' });
  assert.deepEqual([answer.status, answer.headers.get('Location')], [303, '/']);
  assert.match(await (await browser.get('/account')).text(), /Your password was changed/);
  for (const path of [first, second]) assert.equal((await browser.get(path)).status, 410);
  assert.match(
    (await app.request('/account/prove', { headers: cookie })).headers.get('Location')!,
    /sign-in/,
  );

  const wrong = await browser.post('/sign-in', { email, password: 'glass heron tuesday' });
  assert.equal(wrong.status, 422);
  const right = await browser.post('/sign-in', { email, password: 'nine blue kettles' });
  assert.equal(right.status, 303);
  const acts = await db<{ act: string }[]>`select act from audit_events where target_id = ${id}`;
  assert.ok(acts.some(({ act }) => act === 'member.password_changed'));
});

test('a reset email that was refused nine times is sent and recorded once', async () => {
  const { email, id } = await memberWithPassword();
  const recorded = () =>
    db`select from audit_events where target_id = ${id} and act = 'member.reset'`;
  await visitorBrowser(app).post('/forgot', { email });
  const [job] = await jobsFor(email);
  const tools = { db, secrets: createSecrets([Buffer.alloc(32, 1)]), publicUrl };
  for (let times = 0; times < 9; times++) {
    const refusing = { ...tools, appMailer: { send: async () => busy() } };
    await assert.rejects(mailReset(refusing, job!.payload), TurnedAway);
  }
  assert.equal((await recorded()).length, 0);
  assert.equal((await mailed(email)).length, 1);
  assert.equal((await recorded()).length, 1);
});

test('the reset link signs in even when the password is locked', async () => {
  const { email } = await memberWithPassword();
  await useUpDay(email);
  const browser = visitorBrowser(app);
  const locked = await browser.post('/sign-in', { email, password: 'glass heron tuesday' });
  assert.equal(locked.status, 429);
  await browser.post('/forgot', { email });
  const [url = ''] = await mailed(email);
  await browser.post(url.slice(publicUrl.length), { password: 'nine blue kettles' });
  assert.equal((await browser.get('/account')).status, 200);
});

test('the reset link asks for a code with two-step verification', async () => {
  const { email, id } = await memberWithPassword();
  await db`update members set totp_secret = '\\x00', totp_since = now() where id = ${id}`;
  const { url } = await createResetLink({ db, publicUrl }, commandActor(), email);
  const browser = visitorBrowser(app);
  const answer = await browser.post(url.slice(publicUrl.length), { password: 'nine blue kettles' });
  assert.equal(answer.headers.get('Location'), '/sign-in/code');
  assert.equal((await browser.get('/account')).status, 303);
});

test('a signed-in member can confirm a password that strangers have locked', async () => {
  const { email, id } = await memberWithPassword();
  const cookie = await signIn(db, { member: id });
  await useUpDay(email);
  const browser = visitorBrowser(app, {}, cookie);
  const proved = await browser.post('/account/prove', { password: 'glass heron tuesday' });
  assert.equal(proved.status, 303);
});

test('the reset page removes passkeys when the box is checked', async () => {
  const { email, id } = await memberWithPassword();
  const passkeys = () => db`select from passkeys where member_id = ${id}`;
  const key = { member_id: id, public_key: Buffer.from('x'), counter: 0, name: 'Phone' };
  await db`insert into passkeys ${db({ ...key, id: randomUUID(), transports: [] })}`;
  for (const [box, left] of [
    [{}, 1],
    [{ remove_passkeys: 'on' }, 0],
  ] as const) {
    const { url } = await createResetLink({ db, publicUrl }, commandActor(), email);
    const path = url.slice(publicUrl.length);
    const browser = visitorBrowser(app);
    assert.match(await (await browser.get(path)).text(), /name="remove_passkeys"[^>]*checked/);
    await browser.post(path, { password: 'nine blue kettles', ...box });
    assert.equal((await passkeys()).length, left);
  }
});

test('every change of credentials is emailed to the member', async () => {
  const { email, id } = await memberWithPassword();
  const { url } = await createResetLink({ db, publicUrl }, commandActor(), email);
  const browser = visitorBrowser(app);
  await browser.post(url.slice(publicUrl.length), { password: 'nine blue kettles' });
  const own = { memberId: id, actor: commandActor() };
  await db`update members set totp_secret = '\\x00', totp_since = now() where id = ${id}`;
  await db`update members set sso_issuer = 'https://idp.test', sso_subject = 'x' where id = ${id}`;
  await turnOffCodes(db, own);
  await unlinkSso(db, own);
  await changeName(db, own, 'Ann Lee');
  const jobs = await db<{ payload: JobPayloads['members.mail_notice'] }[]>`
    select payload from test.jobs
    where task = 'members.mail_notice' and payload ->> 'member_id' = ${id} order by id`;
  for (const { payload } of jobs) await mailNotice({ db, appMailer, publicUrl }, payload);
  const subjects = (await mailsTo(email)).map((mail) => /^Subject: (.*)/m.exec(mail)?.[1]);
  assert.deepEqual(subjects.sort(), [
    'Two-step verification was turned off for your account',
    'Your account was unlinked from single sign-on',
    'Your password was changed',
  ]);
});

async function useUpDay(account: string) {
  for (let n = 0; n < 100; n++) await countProof(db, { account, address: `198.51.100.${n}` });
}

test('reset links start with the public URL for any Host header', async () => {
  const { email } = await memberWithPassword();
  const poisoned = {
    Host: 'evil.test',
    'X-Forwarded-Host': 'evil.test',
    Forwarded: 'host=evil.test',
  };
  await visitorBrowser(app).post('/forgot', { email }, poisoned);
  const [link = ''] = await mailed(email);
  assert.ok(link.startsWith(`${publicUrl}/reset/`));
});

test('a reset link works for an hour and survives a weak password', async () => {
  const { email } = await memberWithPassword();
  const { url } = await createResetLink({ db, publicUrl }, commandActor(), email.toUpperCase());
  const path = url.slice(publicUrl.length);
  const browser = visitorBrowser(app);
  assert.equal((await browser.post(path, { password: 'password1234' })).status, 422);
  await db`update member_links set expires_at = expires_at - interval '59 minutes' where kind = 'reset'`;
  assert.equal((await browser.get(path)).status, 200);
  await db`update member_links set expires_at = expires_at - interval '1 minute' where kind = 'reset'`;
  assert.equal((await browser.get(path)).status, 410);
  const over = await browser.post(path, { password: 'nine blue kettles' });
  assert.equal(over.status, 410);
  assert.match(await over.text(), /Request a new link/);
});

test('reset links per member are limited', async () => {
  const { email } = await memberWithPassword();
  for (let n = 0; n < 8; n++) await visitorBrowser(app).post('/forgot', { email });
  assert.equal((await mailed(email)).length, 5);
});

test('reset requests are rate limited with or without an account', async () => {
  for (const email of [(await memberWithPassword()).email, newAddress()]) {
    const statuses = [];
    for (let n = 0; n < 11; n++) {
      statuses.push((await visitorBrowser(app).post('/forgot', { email })).status);
    }
    assert.deepEqual(statuses, [...Array(10).fill(303), 429]);
    assert.equal((await jobsFor(email)).length, 10);
  }
});
