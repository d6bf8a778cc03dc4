import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { hashToken, newToken } from '../../src/sessions/session.ts';
import { type ProviderAccount, passProvider } from '../support/fakes/openid-provider.ts';
import { makeOrganization } from '../support/make/rows.ts';
import {
  joinOrganization,
  makeMember,
  signIn,
  slugOfOrganization,
} from '../support/make/session.ts';
import {
  callback,
  publicUrl,
  type SignInBrowser,
  type SignInRules,
  singleSignOn,
} from '../support/make/single-sign-on.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { keptLog } from '../support/probe/log.ts';
import { visitorBrowser } from '../support/probe/visitor.ts';

const { db } = await testDatabase();
const organization = await makeOrganization(db);
const home = `/o/${await slugOfOrganization(db, organization)}/settings/tags`;
const { state, appWith, memberOf, ...provider } = await singleSignOn(db, { organization });

const account = (over: Partial<ProviderAccount> = {}): ProviderAccount => {
  const sub = randomUUID();
  return { sub, email: `${sub}@acme.test`, email_verified: true, name: 'Ann Lee', ...over };
};

const goThrough = (browser: SignInBrowser, person: ProviderAccount, next = home) =>
  provider.goThrough(browser, person, next);

const signInAs = (person: ProviderAccount, rules: SignInRules = {}) =>
  provider.signInAs(person, rules, home);

const isIn = async (browser: SignInBrowser) => (await browser.get(home)).status === 200;

async function invite(email: string, role: string, org_id = organization) {
  const link = {
    token_hash: hashToken(newToken()),
    kind: 'invitation',
    email,
    org_id,
    role,
  };
  await db`insert into member_links ${db({ ...link, expires_at: new Date(Date.now() + 60_000) })}`;
}

test('a member is linked by verified email and then found by subject', async () => {
  const person = account();
  const id = await makeMember(db, { email: person.email });
  await joinOrganization(db, { org: organization, member: id, role: 'viewer' });
  const { browser, answer } = await signInAs({ ...person, email: person.email!.toUpperCase() });
  assert.deepEqual([answer.status, answer.headers.get('Location')], [303, home]);
  assert.ok(await isIn(browser));

  const moved = await signInAs({ ...person, email: `moved-${person.email}` });
  assert.ok(await isIn(moved.browser));
  const [row] = await db<
    { sso_subject: string }[]
  >`select sso_subject from members where id = ${id}`;
  assert.equal(row?.sso_subject, person.sub);
  const linked = await db`
    select from audit_events where target_id = ${id} and act = 'member.sso_linked'`;
  assert.equal(linked.length, 1);
});

for (const [way, groups] of [
  ['an invitation', []],
  ['a group', [{ group: 'admins', role: 'owner' as const }]],
] as const) {
  test(`the organization gets the time zone of its first owner by ${way}`, async () => {
    const org = await makeOrganization(db);
    const person = account({ groups: ['admins'] });
    if (way === 'an invitation') await invite(person.email!, 'owner', org);
    state.account = person;
    const browser = visitorBrowser(appWith({ organization: org, groups: [...groups] }));
    const begun = await browser.get('/sign-in/oidc?time_zone=Europe%2FBerlin');
    const back = await passProvider(begun.headers.get('Location')!, callback);
    assert.equal((await browser.get(`${back.pathname}${back.search}`)).status, 303);
    const [row] = await db`select time_zone from organizations where id = ${org}`;
    assert.equal(row!['time_zone'], 'Europe/Berlin');
  });
}

test('a newcomer joins with the default role', async () => {
  const person = account();
  const { browser } = await signInAs(person, { role: 'viewer' });
  assert.ok(await isIn(browser));
  const member = await memberOf(person.email!);
  assert.deepEqual([member?.name, member?.role, member?.group_role], ['Ann Lee', 'viewer', null]);
  const events = await db<{ act: string }[]>`
    select act from audit_events where actor_id = ${member!.id} and org_id = ${organization} order by act`;
  assert.deepEqual(
    events.map(({ act }) => act),
    ['member.joined', 'session.started'],
  );
});

test('a newcomer without role, group or invitation gets no account', async () => {
  const person = account();
  const { browser, answer, text } = await signInAs(person);
  assert.equal(answer.status, 403);
  assert.match(text, /have no invitation yet/);
  assert.equal(await memberOf(person.email!), undefined);
  assert.equal(await isIn(browser), false);
});

test('an invitation admits a newcomer, and its role overrides groups', async () => {
  const person = account({ groups: ['readers'] });
  const rules: SignInRules = { role: 'viewer', groups: [{ group: 'readers', role: 'viewer' }] };
  await invite(person.email!, 'editor');
  await signInAs(person, rules);
  assert.equal((await memberOf(person.email!))?.role, 'editor');
  await signInAs(person, rules);
  assert.equal((await memberOf(person.email!))?.role, 'editor');
});

test('a role from groups follows them until an owner changes it', async () => {
  const rules: SignInRules = {
    groups: [
      { group: 'readers', role: 'viewer' },
      { group: 'writers', role: 'editor' },
    ],
  };
  const person = account();
  const roleIn = async (...groups: string[]) => {
    const { answer } = await signInAs({ ...person, groups }, rules);
    return [answer.status, (await memberOf(person.email!))?.role ?? null];
  };
  assert.deepEqual(await roleIn('readers'), [303, 'viewer']);
  assert.deepEqual(await roleIn('readers', 'writers'), [303, 'editor']);
  assert.deepEqual(await roleIn(), [303, null]);
  assert.deepEqual(await roleIn('readers'), [303, 'viewer']);
  await db`update memberships set role = 'owner' where member_id = (
    select id from members where email = ${person.email!})`;
  assert.deepEqual(await roleIn('readers'), [303, 'owner']);
});

test('groups never demote the last owner', async () => {
  const org = await makeOrganization(db);
  const rules: SignInRules = { organization: org, groups: [{ group: 'owners', role: 'owner' }] };
  const person = account({ groups: ['owners'] });
  await signInAs(person, rules);
  await signInAs({ ...person, groups: [] }, rules);
  const [row] = await db<{ role: string }[]>`select role from memberships where org_id = ${org}`;
  assert.equal(row?.role, 'owner');
});

test('a newcomer joins none of several organizations without a setting', async () => {
  const { answer } = await signInAs(account(), { role: 'viewer', organization: null });
  assert.equal(answer.status, 403);
});

const refused: [what: string, over: Partial<ProviderAccount>, rules: SignInRules, says: RegExp][] =
  [
    ['an unverified email', { email_verified: false }, {}, /has not verified your email/],
    ['an email of another domain', {}, { domains: ['other.test'] }, /addresses at your domain/],
    ['no address', { email: undefined as never }, {}, /did not send your email address/],
  ];
for (const [what, over, rules, says] of refused) {
  test(`${what} does not sign in invited or existing members`, async () => {
    const person = account();
    await makeMember(db, { email: person.email });
    await invite(person.email!, 'owner');
    const { browser, answer, text } = await signInAs(
      { ...person, ...over },
      { role: 'viewer', ...rules },
    );
    assert.equal(answer.status, 403);
    assert.match(text, says);
    assert.equal(browser.cookie('__Host-askback'), undefined);
  });
}

test('another person with a linked email does not get the account', async () => {
  const person = account();
  await signInAs(person, { role: 'viewer' });
  const { answer, text } = await signInAs({ ...person, sub: randomUUID() }, { role: 'viewer' });
  assert.equal(answer.status, 403);
  assert.match(text, /belongs to another account/);
});

test('an OpenID return works once, even with copied cookies', async () => {
  const app = appWith({ role: 'viewer' });
  const browser = visitorBrowser(app);
  const back = await goThrough(browser, account());
  const copy = visitorBrowser(app, browser.cookies());
  assert.equal((await browser.get(back)).status, 303);
  assert.equal((await copy.get(back)).status, 403);
  assert.equal((await browser.get(back)).status, 403);
  assert.equal(await isIn(copy), false);
});

test('an OpenID return in another browser is refused', async () => {
  const app = appWith({ role: 'viewer' });
  const back = await goThrough(visitorBrowser(app), account());
  const victim = visitorBrowser(app);
  const answer = await victim.get(back);
  assert.equal(answer.status, 403);
  assert.match(await answer.text(), /started in another browser/);
  assert.equal(victim.cookie('__Host-askback'), undefined);
});

test('an OpenID return with another state is refused', async () => {
  const app = appWith({ role: 'viewer' });
  const [attacker, victim] = [visitorBrowser(app), visitorBrowser(app)];
  const back = await goThrough(attacker, account());
  await goThrough(victim, account());
  const answer = await victim.get(back);
  assert.equal(answer.status, 403);
  assert.equal(await isIn(victim), false);
});

test('an OpenID code of another sign-in is refused', async () => {
  const app = appWith({ role: 'viewer' });
  const [attacker, victim] = [visitorBrowser(app), visitorBrowser(app)];
  const theirs = new URL(await goThrough(attacker, account()), publicUrl);
  const own = new URL(await goThrough(victim, account()), publicUrl);
  own.searchParams.set('code', theirs.searchParams.get('code')!);
  const answer = await victim.get(`${own.pathname}${own.search}`);
  assert.equal(answer.status, 403);
  assert.equal(await isIn(victim), false);
});

test('a person who cancels at the provider can try again', async () => {
  state.denies = true;
  const browser = visitorBrowser(appWith({ role: 'viewer' }));
  const answer = await browser.get(await goThrough(browser, account()));
  state.denies = false;
  assert.equal(answer.status, 403);
  assert.equal((await browser.get(await goThrough(browser, account()))).status, 303);
  assert.match(await answer.text(), /You canceled the sign-in at Acme Login/);
});

test('a provider outage does not affect password sign-in', async () => {
  state.down = true;
  const { lines, log } = keptLog();
  const browser = visitorBrowser(appWith({}, { log }));
  const answer = await browser.get('/sign-in/oidc');
  state.down = false;
  assert.partialDeepStrictEqual(lines, [['warn']]);
  assert.equal(answer.status, 503);
  assert.match(await answer.text(), /Acme Login is not responding/);
  const page = await (await browser.get('/sign-in')).text();
  assert.match(page, /Sign in with Acme Login/);
  assert.match(page, /Password/);
});

test('OpenID sign-in starts a new session', async () => {
  const app = appWith({ role: 'viewer' });
  const fixed = newToken();
  const browser = visitorBrowser(app, { '__Host-askback': fixed });
  await browser.get(await goThrough(browser, account()));
  assert.notEqual(browser.cookie('__Host-askback'), fixed);
  assert.ok(await isIn(browser));
});

test('only the linked account at the provider renews a proof', async () => {
  const app = appWith({ role: 'viewer' });
  const browser = visitorBrowser(app);
  const person = account();
  await browser.get(await goThrough(browser, person));
  const { id } = (await memberOf(person.email!))!;
  const prove = async (as: ProviderAccount) => {
    await db`update sessions set proved_at = now() - interval '2 hours' where member_id = ${id}`;
    state.account = as;
    const begun = await browser.get(`/account/prove/oidc?next=${home}`);
    const url = new URL(begun.headers.get('Location')!);
    assert.equal(url.searchParams.get('prompt'), 'login');
    const back = await passProvider(url.href, callback);
    const answer = await browser.get(`${back.pathname}${back.search}`);
    const [row] = await db<{ recent: boolean }[]>`
      select proved_at > now() - interval '1 minute' as recent from sessions where member_id = ${id}`;
    return [answer.headers.get('Location'), row?.recent];
  };
  assert.deepEqual(await prove(person), [home, true]);
  const refusedAt = `/account/prove?next=${encodeURIComponent(home)}`;
  assert.deepEqual(await prove(account()), [refusedAt, false]);
  const refused = await (await browser.get(refusedAt)).text();
  const says = 'Acme Login did not confirm the account that you are signed in with. Try again.';
  assert.match(refused, new RegExp(`class="notice is-poor"[^>]*><i [^>]*></i><p>${says}<`));
});

const proofs = { password_hash: 'x', totp_secret: Buffer.from('x'), totp_since: new Date() };

for (const isProved of [true, false]) {
  const ends = isProved ? 'keeps' : 'loses';
  test(`linking ${ends} credentials when the email ${isProved ? 'was' : 'was not'} verified`, async () => {
    const person = account();
    const email_proved_at = isProved ? new Date() : null;
    const member = await makeMember(db, { email: person.email, ...proofs, email_proved_at });
    await joinOrganization(db, { org: organization, member, role: 'owner' });
    await db`
      insert into passkeys (id, member_id, name, public_key) values (${member}, ${member}, 'Theirs', '\\x00')`;
    const { Cookie } = await signIn(db, { member });
    await signInAs(person);
    const [left] = await db`
      select password_hash is not null as password, totp_since is not null as codes,
             (select count(*)::int from passkeys where member_id = m.id) as passkeys,
             (select count(*)::int from sessions where member_id = m.id) as sessions,
             email_proved_at is not null as proved
      from members m where id = ${member}`;
    const kept = { password: true, codes: true, passkeys: 1, sessions: 2, proved: true };
    const lost = { password: false, codes: false, passkeys: 0, sessions: 1, proved: true };
    assert.deepEqual({ ...left }, isProved ? kept : lost);
    const before = await bareApp(db).request(home, { headers: { Cookie } });
    assert.equal(before.status, isProved ? 200 : 303);
  });
}

test("groups only change the member's role in their organization", async () => {
  const of = async (role: 'owner' | 'editor' | 'viewer') => {
    const email = `${randomUUID()}@acme.test`;
    await joinOrganization(db, {
      org: organization,
      member: await makeMember(db, { email }),
      role,
    });
    return email;
  };
  const others = [await of('owner'), await of('editor'), await of('viewer')];
  const rolesOf = async () => {
    const found = await Promise.all(others.map(memberOf));
    return found.map((one) => [one?.role, one?.group_role]);
  };
  const before = await rolesOf();
  const newcomer = account({ groups: ['readers'] });
  const member = await makeMember(db, { email: newcomer.email });
  await joinOrganization(db, { org: await makeOrganization(db), member, role: 'owner' });
  const elsewhere = async () => [
    ...(await db`
      select role, group_role from memberships where member_id = ${member} and org_id <> ${organization}`),
  ];
  const rules = { groups: [{ group: 'readers', role: 'viewer' }] } satisfies SignInRules;
  const roleIn = async (...groups: string[]) => {
    await signInAs({ ...newcomer, groups }, rules);
    const { role = null, group_role = null } = (await memberOf(newcomer.email!)) ?? {};
    return [role, group_role];
  };
  assert.deepEqual(await roleIn('readers'), ['viewer', 'viewer']);
  assert.deepEqual(await rolesOf(), before);
  assert.deepEqual(await roleIn(), [null, null]);
  assert.deepEqual(await rolesOf(), before);
  assert.deepEqual(await elsewhere(), [{ role: 'owner', group_role: null }]);
});

test('an accepted invitation keeps a role that groups would remove', async () => {
  const member = account({ groups: ['readers'] });
  const rules = { groups: [{ group: 'readers', role: 'viewer' }] } satisfies SignInRules;
  await signInAs(member, rules);
  await invite(member.email!, 'viewer', await makeOrganization(db));
  await invite(member.email!, 'viewer');
  await signInAs({ ...member, groups: [] }, rules);
  assert.equal((await memberOf(member.email!))?.role, 'viewer');
});

test('forged OpenID returns are rate limited and leave no rows', async () => {
  const app = appWith();
  const rows = async () => (await db`select from spent_handshakes`).length;
  const before = await rows();
  const statuses: number[] = [];
  for (let n = 0; n < 64; n++) {
    const stranger = visitorBrowser(app);
    await stranger.get('/sign-in/oidc');
    const back = '/sign-in/oidc/callback?code=made-up&state=made-up';
    statuses.push((await stranger.get(back)).status);
  }
  assert.deepEqual([...new Set(statuses)], [403, 429]);
  assert.equal((await rows()) - before, statuses.filter((status) => status === 403).length);
  assert.ok((await rows()) - before <= 60);
});
