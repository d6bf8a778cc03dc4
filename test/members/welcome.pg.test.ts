import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWelcomeLink } from '../../src/members/welcome.ts';
import type { OidcSettings } from '../../src/settings.ts';
import { testSettings } from '../support/make/settings.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { visitorBrowser } from '../support/probe/visitor.ts';

const publicUrl = 'https://askback.test';
const first = {
  name: 'Ann',
  email: 'Ann@Larkspur.test',
  password: 'glass heron tuesday',
  organization: 'Larkspur & Söhne',
};

/** A deployment without a member. */
async function deployment(over: Parameters<typeof bareApp>[1] = {}) {
  const { db } = await testDatabase();
  const makePath = async () =>
    (await createWelcomeLink(db, publicUrl))?.slice(publicUrl.length) ?? '';
  const counts = async () => {
    const [row] = await db`
      select (select count(*) from members)::int as members,
             (select count(*) from organizations)::int as organizations`;
    return row;
  };
  return { db, makePath, counts, browser: visitorBrowser(bareApp(db, over)) };
}

test('the welcome link creates an operator who owns the organization', async () => {
  const { db, makePath, browser } = await deployment();
  const path = await makePath();
  assert.match(path, /^\/welcome\/[\w-]{43}$/);
  assert.match(await (await browser.get(path)).text(), /Welcome to askback/);
  const answer = await browser.post(path, first);
  assert.deepEqual([answer.status, answer.headers.get('Location')], [303, '/o/larkspur-sohne']);
  assert.equal((await browser.get('/o/larkspur-sohne/settings/api-keys/new')).status, 200);

  const [member] = await db`
    select m.email, m.is_operator, s.role, o.name
    from members m join memberships s on s.member_id = m.id join organizations o on o.id = s.org_id`;
  const { email, organization: name } = first;
  assert.deepEqual({ ...member }, { email, is_operator: true, role: 'owner', name });
  const acts = await db<{ act: string }[]>`select act from audit_events where actor = 'Ann'`;
  assert.deepEqual(
    new Set(acts.map(({ act }) => act)),
    new Set(['organization.created', 'member.joined', 'session.started']),
  );
});

test('the welcome link works once, until there is a member', async () => {
  const { db, makePath, counts, browser } = await deployment();
  const path = await makePath();
  const answers = await Promise.all(
    [1, 2, 3].map((n) => browser.post(path, { ...first, email: `a${n}@b.test` })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 410, 410]);
  assert.deepEqual({ ...(await counts()) }, { members: 1, organizations: 1 });
  const again = await browser.get(path);
  assert.equal(again.status, 410);
  const page = await again.text();
  assert.ok(page.includes('href="/sign-in"') && !page.includes('/forgot'));
  assert.equal(await createWelcomeLink(db, publicUrl), undefined);
});

test('a start replaces the welcome link, which works for 24 hours', async () => {
  const { db, makePath, counts, browser } = await deployment();
  const [before, now] = [await makePath(), await makePath()];
  assert.equal((await browser.get(before)).status, 410);
  assert.equal((await browser.post(before, first)).status, 410);
  await db`update member_links set expires_at = expires_at - interval '23 hours'`;
  assert.equal((await browser.get(now)).status, 200);
  await db`update member_links set expires_at = expires_at - interval '1 hour'`;
  const over = await browser.post(now, first);
  assert.equal(over.status, 410);
  assert.match(await over.text(), /restarting the server prints a new link/);
  assert.deepEqual({ ...(await counts()) }, { members: 0, organizations: 0 });
  assert.equal((await browser.get('/welcome/x')).status, 410);
});

test('the first member needs no password when passwords are off', async () => {
  const oidc = { name: 'Acme Login' } as OidcSettings;
  const settings = { ...testSettings, signIn: { byPassword: false, oidc } };
  const { db, makePath, browser } = await deployment({ settings });
  const path = await makePath();
  const page = await (await browser.get(path)).text();
  assert.doesNotMatch(page, /type="password"/);
  assert.match(page, /account at Acme Login/);
  const { password, ...given } = first;
  assert.equal((await browser.post(path, { ...given, email: 'ann' })).status, 422);
  const answer = await browser.post(path, { ...given, password });
  assert.deepEqual([answer.status, answer.headers.get('Location')], [303, '/o/larkspur-sohne']);
  assert.equal((await browser.get('/o/larkspur-sohne')).status, 200);
  const [member] = await db`select password_hash, is_operator from members`;
  assert.deepEqual({ ...member }, { password_hash: null, is_operator: true });
});

const beginnings: [what: string, zone: string, ai: object | null, expected: object][] = [
  ['a browser with a time zone', 'Europe/Berlin', null, { time_zone: 'Europe/Berlin', ai: true }],
  ['a browser without a script', '', null, { time_zone: 'UTC', ai: true }],
  ['an endpoint for analysis', 'Mars/Olympus', {}, { time_zone: 'UTC', ai: false }],
];

for (const [what, time_zone, ai, expected] of beginnings) {
  test(`the first organization has suitable defaults with ${what}`, async () => {
    const settings = { ...testSettings, ai } as typeof testSettings;
    const { db, makePath, browser } = await deployment({ settings });
    await browser.post(await makePath(), { ...first, time_zone });
    const [organization] = await db`
      select o.time_zone, o.ai_enabled as ai, n.events
      from organizations o
      join notification_choices n on n.org_id = o.id`;
    assert.deepEqual(
      { ...organization },
      { ...expected, events: ['detractor', 'campaign_paused'] },
    );
  });
}
