import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOrganization } from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { bareApp } from '../support/probe/app.ts';
import { commandRunner } from '../support/probe/command.ts';
import { testDatabase } from '../support/probe/database.ts';
import { visitorBrowser } from '../support/probe/visitor.ts';
import { secretKey } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = {
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  ASKBACK_PUBLIC_URL: 'https://askback.test',
};
const run = (...words: string[]) => commandRunner(environment)('member', ...words);

async function json(...words: string[]) {
  const { code, stdout, stderr } = await run(...words, '--json');
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

const statusOf = async (link: string) =>
  (await visitorBrowser(bareApp(db)).get(new URL(link).pathname)).status;

test('member invite prints the links of operators and of members', async () => {
  const operator = await json('invite', '--operator', '--email', 'op@people.test');
  assert.deepEqual(Object.keys(operator), ['id', 'email', 'url']);
  assert.match(operator.url, /^https:\/\/askback\.test\/invitations\/[\w-]{43}$/);
  assert.equal(await statusOf(operator.url), 200);

  const org = await makeOrganization(db);
  const words = ['--org', org, '--role', 'owner', '--email', 'bo@people.test'];
  const { stdout } = await run('invite', ...words);
  assert.equal(await statusOf(stdout.split('\n')[0]!), 200);
  assert.equal((await db`select from test.jobs`).length, 0);
});

test('member invite rejects an empty organization', async () => {
  await makeOrganization(db);
  await makeOrganization(db);
  const words = ['--email', 'eve@people.test', '--org', '', '--role', 'viewer'];
  const { code, stderr } = await run('invite', ...words);
  assert.equal(code, 2);
  assert.match(stderr, /--org is required/);
});

test('member invite queues an email when a mail server is set', async () => {
  const withMail = commandRunner({ ...environment, ASKBACK_SMTP_URL: 'smtp://127.0.0.1:2525' });
  const words = ['member', 'invite', '--operator', '--email', 'mailed@people.test'];
  assert.equal((await withMail(...words)).code, 0);
  assert.equal((await db`select from test.jobs where task = 'members.mail_invitation'`).length, 1);
});

test('member commands find members by email and keep the last owner', async () => {
  const org = await makeOrganization(db);
  const [owner, viewer] = [
    await makeMember(db, { email: 'Own@people.test' }),
    await makeMember(db, { email: 'View@people.test' }),
  ];
  await joinOrganization(db, { org, member: owner, role: 'owner' });
  await joinOrganization(db, { org, member: viewer, role: 'viewer' });

  const roles = async () =>
    (await json('list', '--org', org)).map((one: { email: string; role: string }) => [
      one.email,
      one.role,
    ]);
  assert.deepEqual(await roles(), [
    ['Own@people.test', 'owner'],
    ['View@people.test', 'viewer'],
  ]);
  await json('role', '--org', org, '--email', 'view@people.test', '--role', 'editor');
  const refused = await run('remove', '--org', org, '--email', 'own@people.test');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /needs an owner/);
  await json('remove', '--org', org, '--email', 'VIEW@people.test');
  assert.deepEqual(await roles(), [['Own@people.test', 'owner']]);
  assert.ok((await json('list')).length >= 2);

  const acts = await db<{ act: string; actor_kind: string }[]>`
    select act, actor_kind from audit_events where org_id = ${org} order by at`;
  assert.deepEqual(
    acts.map(({ act, actor_kind }) => [act, actor_kind]),
    [
      ['member.role_changed', 'command'],
      ['member.removed', 'command'],
    ],
  );
});

test('member reset prints a link that sets a new password', async () => {
  await makeMember(db, { email: 'lost@people.test' });
  const { url: link } = await json('reset', '--email', 'Lost@people.test');
  assert.match(link, /^https:\/\/askback\.test\/reset\/[\w-]{43}$/);
  assert.equal(await statusOf(link), 200);
});

for (const [words, code] of [
  [['invite', '--email', 'a@b.test'], 2],
  [['invite', '--email', 'a@b.test', '--role', 'owner'], 2],
  [['invite', '--email', 'nothing', '--operator'], 2],
  [['reset', '--email', 'unknown@people.test'], 1],
] as const) {
  test(`member ${words.join(' ')} exits with ${code}`, async () => {
    assert.equal((await run(...words)).code, code);
  });
}

test('member reset turns off codes and unlinks single sign-on on request', async () => {
  const email = 'lost-phone@people.test';
  const secret = Buffer.alloc(60);
  const id = await makeMember(db, {
    email,
    totp_secret: secret,
    totp_since: new Date(),
    sso_issuer: 'https://login.test',
    sso_subject: '1',
  });
  const left = async () => {
    const [row] = await db<{ codes: boolean; sso: boolean }[]>`
      select totp_since is not null as codes, sso_subject is not null as sso
      from members where id = ${id}`;
    return row;
  };
  await json('reset', '--email', email);
  assert.deepEqual(await left(), { codes: true, sso: true });
  await json('reset', '--email', email, '--codes');
  assert.deepEqual(await left(), { codes: false, sso: true });
  await json('reset', '--email', email, '--sso');
  assert.deepEqual(await left(), { codes: false, sso: false });
  const unlinked = await db`
    select from audit_events where act = 'member.sso_unlinked' and target_id = ${id}`;
  assert.equal(unlinked.length, 1);
});
