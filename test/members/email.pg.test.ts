import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createAppMailer } from '../../src/app-mailer.ts';
import { commandActor, commandWriter } from '../../src/audit/acts.ts';
import type { JobPayloads } from '../../src/jobs.ts';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { createMailbox } from '../../src/mailbox/mailbox.ts';
import { inviteMember } from '../../src/members/invite.ts';
import { mailLink, mailNotice } from '../../src/members/mail.ts';
import { hashPassword } from '../../src/members/password.ts';
import { createResetLink } from '../../src/members/reset.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { testSettings } from '../support/make/settings.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { noticeOf } from '../support/probe/notice.ts';
import { visitorBrowser } from '../support/probe/visitor.ts';

const { db } = await testDatabase();
const publicUrl = 'https://askback.test';
const secrets = createSecrets([Buffer.alloc(32, 1)]);
const app = bareApp(db, { secrets, mailbox: false });
const appMailer = createAppMailer({
  transport: createMailbox(db),
  dkim: null,
  mailFrom: null,
  publicUrl,
});
const password = 'glass heron tuesday';
const password_hash = await hashPassword(password, { address: 'test' });

const newAddress = () => `${randomUUID()}@people.test`;

async function signedInMember(over: object = {}) {
  const email = newAddress();
  const id = await makeMember(db, { email, password_hash, ...over });
  const browser = visitorBrowser(app);
  await browser.post('/sign-in', { email, password });
  return { id, email, ...browser };
}

type Browser = Pick<ReturnType<typeof visitorBrowser>, 'get' | 'post'>;

const runJobs = async <Name extends keyof JobPayloads>(
  task: Name,
  run: (payload: JobPayloads[Name]) => Promise<unknown>,
) => {
  const jobs = await db<{ payload: JobPayloads[Name] }[]>`
    select payload from test.jobs where task = ${task}`;
  for (const { payload } of jobs) await run(payload);
};

async function mailsTo(email: string) {
  const mails = await db<{ raw: Buffer }[]>`
    select raw from mailbox_messages where rcpt_to = ${email} order by received_at`;
  return mails.map(({ raw }) => raw.toString().replaceAll('=\r\n', ''));
}

/** Requests the change and returns the path in the email to the new address. */
async function request({ post }: Pick<Browser, 'post'>, email: string) {
  assert.equal((await post('/account/email', { email })).status, 303);
  await runJobs('members.mail_confirmation', (payload) =>
    mailLink({ db, appMailer, secrets, publicUrl }, 'email', payload),
  );
  const mail = (await mailsTo(email)).at(-1) ?? '';
  return /https:\/\/askback\.test(\/account\/email\/[\w-]{43})/.exec(mail)?.[1] ?? '';
}

const emailOf = async (id: string) =>
  (await db<{ email: string }[]>`select email from members where id = ${id}`)[0]?.email;

test('a member changes the email by a link to the new one, and sessions stay', async () => {
  const member = await signedInMember();
  const org = await makeOrganization(db);
  await joinOrganization(db, { org, member: member.id, role: 'owner' });
  const elsewhere = visitorBrowser(app);
  await elsewhere.post('/sign-in', { email: member.email, password });
  const reset = await createResetLink({ db, publicUrl }, commandActor(), member.email);
  const email = newAddress();

  const link = await request(member, email);
  assert.equal(await emailOf(member.id), member.email);
  assert.match(
    await (await member.get('/account')).text(),
    new RegExp(`confirmation of <bdi>${email}`),
  );
  assert.match(await (await member.get(link)).text(), new RegExp(`sign in with <bdi>${email}`));
  assert.equal(await emailOf(member.id), member.email, 'opening the link changes nothing');

  assert.equal((await member.post(link)).status, 303);
  assert.equal(await emailOf(member.id), email);
  assert.equal((await elsewhere.get('/account')).status, 200);
  assert.equal((await member.post(link)).status, 410);
  assert.equal((await visitorBrowser(app).get(reset.url.slice(publicUrl.length))).status, 410);
  const signIn = async (typed: string) =>
    (await visitorBrowser(app).post('/sign-in', { email: typed, password })).status;
  assert.deepEqual([await signIn(member.email), await signIn(email)], [422, 303]);

  const [event] = await db<{ org_id: string; details: unknown }[]>`
    select org_id, details from audit_events where act = 'member.email_changed' and actor_id = ${member.id}`;
  const masked = (address: string) => `${address[0]}…@people.test`;
  assert.equal(event?.org_id, org);
  assert.deepEqual(event?.details, {
    changes: { email: { from: masked(member.email), to: masked(email) } },
  });
  await runJobs('members.mail_notice', (payload) =>
    payload.member_id === member.id
      ? mailNotice({ db, appMailer, publicUrl }, payload)
      : Promise.resolve(),
  );
  const notices = async (to: string) =>
    (await mailsTo(to)).filter((mail) => mail.includes('Subject: The email of your account'));
  assert.deepEqual([(await notices(member.email)).length, (await notices(email)).length], [1, 0]);
});

test('one of two members who change to the same email at once succeeds', async () => {
  const members = [await signedInMember(), await signedInMember()];
  const local = randomUUID();
  const [email, upper] = [`${local}@people.test`, `${local.toUpperCase()}@people.test`];
  const links = [await request(members[0]!, email), await request(members[1]!, upper)];
  const answers = await Promise.all(members.map(({ post }, at) => post(links[at]!)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 409]);
  const refused = answers.find(({ status }) => status === 409)!;
  assert.match(await refused.text(), /This email already has an account/);
});

test('a request does not tell whether an email has an account', async () => {
  const [member, other] = [await signedInMember(), await signedInMember()];
  const taken = await member.post('/account/email', { email: other.email });
  const free = await member.post('/account/email', { email: newAddress() });
  assert.deepEqual([taken.status, noticeOf(taken)], [free.status, noticeOf(free)]);
});

test('a link only works for the member who requested it', async () => {
  const [member, other] = [await signedInMember(), await signedInMember()];
  const link = await request(member, newAddress());
  assert.equal((await other.get(link)).status, 410);
  assert.equal((await other.post(link)).status, 410);
  const visitor = await visitorBrowser(app).get(link);
  assert.equal(visitor.headers.get('Location'), `/sign-in?next=${encodeURIComponent(link)}`);
  assert.equal((await member.post(link)).status, 303);
});

test('links that are expired, replaced or older than the password fail', async () => {
  const member = await signedInMember();
  const expired = await request(member, newAddress());
  await db`update member_links set expires_at = expires_at - interval '23 hours' where member_id = ${member.id}`;
  assert.equal((await member.get(expired)).status, 200);
  await db`update member_links set expires_at = expires_at - interval '1 hour' where member_id = ${member.id}`;
  assert.equal((await member.post(expired)).status, 410);
  const replaced = await request(member, newAddress());
  const link = await request(member, newAddress());
  assert.equal((await member.post(replaced)).status, 410);
  const words = { current_password: password, new_password: 'copper kettle sunday' };
  assert.equal((await member.post('/account/password', words)).status, 303);
  assert.equal((await member.post(link)).status, 410);
  assert.equal(await emailOf(member.id), member.email);
});

test('the form refuses a wrong email and asks for a recent proof', async () => {
  const member = await signedInMember();
  const invalid = await member.post('/account/email', { email: 'ann@' });
  assert.equal(invalid.status, 422);
  const same = await member.post('/account/email', { email: member.email });
  assert.match(await same.text(), /This is already your email/);
  await db`update sessions set proved_at = now() - interval '2 hours' where member_id = ${member.id}`;
  const old = await member.get('/account/email');
  assert.equal(old.headers.get('Location'), '/account/prove?next=%2Faccount%2Femail');
  await member.post('/account/email', { email: newAddress() });
  assert.equal((await db`select from member_links where member_id = ${member.id}`).length, 0);
});

test('the form refuses a member who only has single sign-on', async () => {
  const oidc = { name: 'Keycloak', issuer: 'https://idp.test' };
  const settings = { ...testSettings, signIn: { byPassword: true, oidc } } as never;
  const sso = { sso_issuer: oidc.issuer, sso_subject: randomUUID() };
  const member = await signedInMember(sso);
  const browser = visitorBrowser(bareApp(db, { settings }), member.cookies());
  assert.match(await (await browser.get('/account/email')).text(), /New email/);
  await db`update members set password_hash = null where id = ${member.id}`;
  const refused = await browser.post('/account/email', { email: newAddress() });
  assert.equal(refused.status, 403);
  assert.match(await refused.text(), /You sign in only with Keycloak/);
});

test('a member accepts invitations to the new email only', async () => {
  const member = await signedInMember();
  const email = newAddress();
  const invite = async (to: string) => {
    const writer = commandWriter(await makeOrganization(db));
    const tools = { db, secrets, publicUrl, mails: false };
    const { url } = await inviteMember(tools, writer, { email: to, role: 'viewer' });
    return url.slice(publicUrl.length);
  };
  const [before, later] = [await invite(member.email), await invite(email)];
  await member.post(await request(member, email));
  assert.equal((await member.post(before)).status, 422);
  assert.equal((await member.post(later)).status, 303);
});
