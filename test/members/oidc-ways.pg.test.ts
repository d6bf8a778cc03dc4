import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { hashToken, newToken } from '../../src/sessions/session.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { type SignInRules, singleSignOn } from '../support/make/single-sign-on.ts';
import { testDatabase } from '../support/probe/database.ts';
import { visitorBrowser } from '../support/probe/visitor.ts';

const { db } = await testDatabase();
const organization = await makeOrganization(db);
const { appWith, memberOf, signInAs } = await singleSignOn(db, { organization });

const readers = { group: 'readers', role: 'viewer' } as const;
const person = (over: Record<string, unknown> = {}) => {
  const sub = randomUUID();
  return { sub, email: `${sub}@acme.test`, email_verified: true, name: 'Ann Lee', ...over };
};

for (const [rules, scope] of [
  [{ role: 'viewer' }, 'openid email profile'],
  [{ role: 'viewer', groups: [readers] }, 'openid email profile groups'],
] as [SignInRules, string][]) {
  test(`with ${rules.groups?.length ?? 0} groups the provider is asked for ${scope}`, async () => {
    const answer = await visitorBrowser(appWith(rules)).get('/sign-in/oidc');
    const asked = new URL(answer.headers.get('Location')!).searchParams;
    assert.equal(asked.get('scope'), scope);
  });
}

const names: [given: string | undefined, name: (email: string) => string][] = [
  ['Ann Lee', () => 'Ann Lee'],
  ['a'.repeat(200), () => 'a'.repeat(200)],
  ['a'.repeat(201), () => 'a'.repeat(200)],
  ['', (email) => email.split('@')[0]!],
  [undefined, (email) => email.split('@')[0]!],
];
for (const [given, name] of names) {
  test(`a newcomer whose name has ${given?.length ?? 'no known number of'} characters has one of 200 at most, else that of its address`, async () => {
    const newcomer = person({ name: given });
    await signInAs(newcomer, { role: 'viewer' });
    assert.equal((await memberOf(newcomer.sub))?.name, name(newcomer.email));
  });
}

test('groups of one member change no role of another, nor that of the same member elsewhere', async () => {
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
  const newcomer = person({ groups: ['readers'] });
  const member = await makeMember(db, { email: newcomer.email });
  await joinOrganization(db, { org: await makeOrganization(db), member, role: 'owner' });
  const elsewhere = async () => [
    ...(await db`
      select role, group_role from memberships where member_id = ${member} and org_id <> ${organization}`),
  ];
  const rules = { groups: [readers] };
  const roleIn = async (...groups: string[]) => {
    await signInAs({ ...newcomer, groups }, rules);
    const { role = null, group_role = null } = (await memberOf(newcomer.sub)) ?? {};
    return [role, group_role];
  };
  assert.deepEqual(await roleIn('readers'), ['viewer', 'viewer']);
  assert.deepEqual(await rolesOf(), before);
  assert.deepEqual(await roleIn(), [null, null]);
  assert.deepEqual(await rolesOf(), before);
  assert.deepEqual(await elsewhere(), [{ role: 'owner', group_role: null }]);
});

test('an invitation that is taken keeps a role that its groups would end, also next to one elsewhere', async () => {
  const member = person({ groups: ['readers'] });
  const rules = { groups: [readers] };
  await signInAs(member, rules);
  for (const org_id of [await makeOrganization(db), organization]) {
    await db`insert into member_links ${db({
      token_hash: hashToken(newToken()),
      kind: 'invitation',
      email: member.email,
      org_id,
      role: 'viewer',
      expires_at: new Date(Date.now() + 60_000),
    })}`;
  }
  await signInAs({ ...member, groups: [] }, rules);
  assert.equal((await memberOf(member.sub))?.role, 'viewer');
});
