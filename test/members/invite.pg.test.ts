import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createAppMailer } from '../../src/app-mailer.ts';
import { commandActor, commandWriter } from '../../src/audit/acts.ts';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { createMailbox } from '../../src/mailbox/mailbox.ts';
import { inviteMember, inviteOperator } from '../../src/members/invite.ts';
import { mailLink } from '../../src/members/mail.ts';
import { makeOrganization } from '../support/make/rows.ts';
import {
  joinOrganization,
  makeMember,
  signIn,
  slugOfOrganization,
} from '../support/make/session.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';
import { visitorBrowser } from '../support/probe/visitor.ts';

const { db } = await testDatabase();
const app = bareApp(db);
const publicUrl = 'https://askback.test';
const secrets = createSecrets([Buffer.alloc(32, 1)]);
const tools = { db, secrets, publicUrl, mails: true };
const password = 'glass heron tuesday';
const pathOf = (url: string) => url.slice(publicUrl.length);

async function invited(over: { role?: 'viewer' | 'editor' | 'owner'; email?: string } = {}) {
  const org = await makeOrganization(db);
  const email = over.email ?? `${randomUUID()}@People.test`;
  const made = await inviteMember(tools, commandWriter(org), { role: 'viewer', ...over, email });
  return {
    org,
    home: `/o/${await slugOfOrganization(db, org)}`,
    path: pathOf(made.url),
    ...made,
  };
}

const rolesOf = (org: string) =>
  db<{ email: string; role: string }[]>`
    select email, role from memberships join members on id = member_id where org_id = ${org}`;

/** Runs the job of an invitation and returns its email. */
async function mailOf(id: string) {
  const [job] = await db<{ payload: { link_id: string; sealed: string } }[]>`
    select payload from test.jobs where payload ->> 'link_id' = ${id}`;
  const transport = createMailbox(db);
  const appMailer = createAppMailer({ transport, dkim: null, mailFrom: null, publicUrl });
  await mailLink({ db, secrets, publicUrl, appMailer }, 'invitation', job!.payload);
  const [mail] = await db<{ raw: Buffer; rcpt_to: string; mail_from: string }[]>`
    select raw, rcpt_to, mail_from from mailbox_messages order by id desc limit 1`;
  return { ...mail!, job: job!, text: mail?.raw.toString().replaceAll('=\r\n', '') ?? '' };
}

test('the invitation link creates an account with its role', async () => {
  const { org, email, home, path } = await invited({ role: 'editor' });
  const browser = visitorBrowser(app);
  const page = await (await browser.get(path)).text();
  assert.ok(page.includes(email) && page.includes('as editor'));
  const answer = await browser.post(path, { name: 'Bo', password });
  assert.deepEqual([answer.status, answer.headers.get('Location')], [303, '/']);
  assert.equal((await browser.get('/')).headers.get('Location'), home);
  assert.deepEqual([...(await rolesOf(org))], [{ email, role: 'editor' }]);
  const again = await visitorBrowser(app).get(path);
  assert.equal(again.status, 410);
  const over = await again.text();
  assert.ok(over.includes('href="/sign-in"') && !over.includes('/forgot'));
});

test('the invitation link is only emailed and never stored in plain text', async () => {
  const { id, email, url } = await invited();
  const { text, rcpt_to, mail_from, job } = await mailOf(id);
  assert.equal(rcpt_to, email.toLowerCase());
  assert.equal(mail_from, 'askback@askback.test');
  assert.ok(text.includes(url));
  assert.ok(!JSON.stringify(job).includes(url.split('/').at(-1)!));
});

test('a withdrawn or replaced invitation is not emailed', async () => {
  const { id, org, email } = await invited();
  await inviteMember(tools, commandWriter(org), { email: email.toLowerCase(), role: 'owner' });
  const before = await db`select from mailbox_messages`;
  await mailOf(id).catch(() => {});
  assert.equal((await db`select from mailbox_messages`).length, before.length);
});

test('an invitation ends after a week or with the next one', async () => {
  const first = await invited();
  const second = await inviteMember(tools, commandWriter(first.org), {
    email: first.email,
    role: 'owner',
  });
  const status = async (path: string) => (await visitorBrowser(app).get(path)).status;
  assert.equal(await status(first.path), 410);
  await db`update member_links set expires_at = expires_at - interval '167 hours' where id = ${second.id}`;
  assert.equal(await status(pathOf(second.url)), 200);
  await db`update member_links set expires_at = expires_at - interval '1 hour' where id = ${second.id}`;
  assert.equal(await status(pathOf(second.url)), 410);
});

test('only one of several posts with one link creates the account', async () => {
  const { org, path } = await invited();
  const posts = [1, 2, 3].map((n) => visitorBrowser(app).post(path, { name: `Bo ${n}`, password }));
  const statuses = (await Promise.all(posts)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [303, 410, 410]);
  assert.equal((await rolesOf(org)).length, 1);
});

test('an invitation of an existing account requires its sign-in', async () => {
  const email = `${randomUUID()}@people.test`;
  const member = await makeMember(db, { email });
  const { org, path } = await invited({ email: email.toUpperCase(), role: 'viewer' });

  const visitor = visitorBrowser(app);
  const page = await (await visitor.get(path)).text();
  assert.ok(page.includes(`/sign-in?next=${encodeURIComponent(path)}`));
  assert.ok(!page.includes('type="password"'));
  assert.equal((await visitor.post(path, { name: 'Thief', password })).status, 403);

  const asOther = await app.request(path, { method: 'POST', headers: await signIn(db) });
  assert.equal(asOther.status, 403);
  assert.equal((await rolesOf(org)).length, 0);

  const asInvited = await app.request(path, {
    method: 'POST',
    headers: await signIn(db, { member }),
  });
  assert.equal(asInvited.status, 303);
  assert.deepEqual(
    (await rolesOf(org)).map(({ role }) => role),
    ['viewer'],
  );
});

test('an invited operator without an organization opens Operator', async () => {
  const email = `${randomUUID()}@people.test`;
  const { url } = await inviteOperator(tools, commandActor(), email);
  const browser = visitorBrowser(app);
  assert.match(await (await browser.get(pathOf(url))).text(), /run this server as an operator/);
  await browser.post(pathOf(url), { name: 'Op', password });
  assert.equal((await browser.get('/')).headers.get('Location'), '/operator');
});

test('an owner who invites does not see the link', async () => {
  const org = await makeOrganization(db);
  const { home, submit } = await memberBrowser(db, { app, org });
  const email = `${randomUUID()}@people.test`;
  const shown = await (await submit(`${home}/settings/members`, { email, role: 'editor' })).text();
  assert.ok(shown.includes(email));
  assert.doesNotMatch(shown, /askback\.test\/invitations\//);
});

test('an operator who invites sees the link once and can withdraw it', async () => {
  const org = await makeOrganization(db);
  const { home, submit, get, post } = await memberBrowser(db, { app, org });
  await db`
    update members set is_operator = true
    where id in (select member_id from memberships where org_id = ${org})`;
  const path = `${home}/settings/members`;
  const email = `${randomUUID()}@people.test`;
  const shown = await (await submit(path, { email, role: 'editor' })).text();
  const [link = ''] = /https:\/\/askback\.test\/invitations\/[\w-]{43}/.exec(shown) ?? [];
  assert.equal((await visitorBrowser(app).get(pathOf(link))).status, 200);
  const again = await (await get(path)).text();
  assert.ok(
    again.includes(email) && !again.includes('/invitations/'.concat(link.split('/').at(-1)!)),
  );

  const [withdraw = ''] = /\/o\/[^"]+\/withdraw/.exec(again) ?? [];
  const asked = await (await get(withdraw)).text();
  assert.match(asked, new RegExp(`invitation of ${email} stops working`));
  assert.equal((await post(withdraw)).status, 303);
  assert.equal((await visitorBrowser(app).get(pathOf(link))).status, 410);
  assert.equal((await post(withdraw)).status, 404);
});

for (const [held, invitedAs, kept] of [
  ['owner', 'viewer', 'owner'],
  ['editor', 'editor', 'editor'],
  ['viewer', 'editor', 'editor'],
] as const) {
  test(`an old invitation as ${invitedAs} leaves ${held} as ${kept}`, async () => {
    const { org, path, email } = await invited({ role: invitedAs });
    const member = await makeMember(db, { email });
    await joinOrganization(db, { org, member, role: held });
    const headers = await signIn(db, { member });
    assert.equal((await app.request(path, { method: 'POST', headers })).status, 303);
    assert.deepEqual(
      (await rolesOf(org)).map(({ role }) => role),
      [kept],
    );
    const acts = await db`
      select act from audit_events where org_id = ${org} and target_id = ${member}`;
    assert.deepEqual(
      acts.map(({ act }) => act),
      held === kept ? [] : ['member.role_changed'],
    );
  });
}

test('an organization can create a hundred invitations in 24 hours', async () => {
  const org = await makeOrganization(db);
  const by = { ...commandWriter(org), actor: { kind: 'member', id: null, name: 'Ann' } as const };
  const invite = (n: number) =>
    inviteMember(tools, by, { email: `${n % 3}@limit.test`, role: 'viewer' });
  await db`
    insert into audit_events (org_id, act, actor_kind, actor, at)
    select ${org}, 'member.invited', 'member', 'Ann', now() - interval '23 hours' from generate_series(1, 90)`;
  const made = await Promise.allSettled(Array.from({ length: 14 }, (_, n) => invite(n)));
  assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 10);
  const refused = await invite(0).catch((error) => error);
  assert.deepEqual([refused.kind, refused.code], ['rate_limited', 'too_many_invitations']);
  assert.ok(refused.retryInSeconds > 3500 && refused.retryInSeconds <= 3600);

  await inviteMember(tools, commandWriter(org), { email: 'by-shell@limit.test', role: 'viewer' });
  await db`update audit_events set at = at - interval '2 hours' where org_id = ${org}`;
  await invite(0);
});

test("only the first owner sets the organization's time zone", async () => {
  const { org, path } = await invited({ role: 'owner' });
  const join = (at: string, time_zone: string) =>
    visitorBrowser(app).post(at, { name: 'Bo', password, time_zone });
  await join(path, 'Europe/Berlin');
  const email = `${randomUUID()}@people.test`;
  const second = await inviteMember(tools, commandWriter(org), { role: 'owner', email });
  await join(pathOf(second.url), 'Asia/Tokyo');
  const [found] = await db`
    select time_zone, (select count(*)::int from notification_choices where org_id = o.id) as notified
    from organizations o where id = ${org}`;
  assert.deepEqual({ ...found }, { time_zone: 'Europe/Berlin', notified: 2 });
});

test('the audit log masks the invited email', async () => {
  const { org } = await invited({ email: `anna-${randomUUID()}@people.test` });
  const [event] = await db<{ name: string }[]>`
    select details ->> 'name' as name from audit_events where org_id = ${org} and act = 'member.invited'`;
  assert.equal(event?.name, 'a…@people.test');
});
