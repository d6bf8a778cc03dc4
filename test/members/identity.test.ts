import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type GroupMembership,
  type IdentityRules,
  judgeIdentity,
  type RoleChange,
  roleChange,
} from '../../src/members/oidc.ts';
import type { Role } from '../../src/sessions/session.ts';

const open: IdentityRules = { domains: [], role: null, groups: [] };
const grouped: IdentityRules = {
  domains: [],
  role: null,
  groups: [
    { group: 'readers', role: 'viewer' },
    { group: 'managers', role: 'owner' },
    { group: 'writers', role: 'editor' },
  ],
};
const ann = { email: 'Ann@Acme.test', isEmailVerified: true, groups: [] as string[] };

test('a verified address comes in', () => {
  assert.deepEqual(judgeIdentity(ann, open), { email: 'Ann@Acme.test', groupRole: null });
});

const refused: [what: string, over: object, rules: object, why: string][] = [
  ['without an address', { email: null }, {}, 'no_email'],
  [
    'without an address, which it cannot verify',
    { email: null, isEmailVerified: false },
    {},
    'no_email',
  ],
  [
    'not verified and of another domain',
    { isEmailVerified: false },
    { domains: ['other.test'] },
    'unverified',
  ],
  ['with something else than an address', { email: 'ann' }, {}, 'no_email'],
  ['with an address that is not verified', { isEmailVerified: false }, {}, 'unverified'],
  ['of another domain', {}, { domains: ['other.test'] }, 'domain'],
  [
    'of a domain that only ends like ours',
    { email: 'a@evilacme.test' },
    { domains: ['acme.test'] },
    'domain',
  ],
  ['of a domain below ours', { email: 'a@x.acme.test' }, { domains: ['acme.test'] }, 'domain'],
];
for (const [what, over, rules, why] of refused) {
  test(`an identity ${what} is refused`, () => {
    assert.deepEqual(judgeIdentity({ ...ann, ...over }, { ...open, ...rules }), { refused: why });
  });
}

test('a domain is compared without regard to capitals', () => {
  assert.ok('email' in judgeIdentity(ann, { ...open, domains: ['acme.test'] }));
});

test('a domain in its own script is the same domain', () => {
  const judged = judgeIdentity(
    { ...ann, email: 'ann@müller.test' },
    { ...open, domains: ['xn--mller-kva.test'] },
  );
  assert.deepEqual(judged, { email: 'ann@xn--mller-kva.test', groupRole: null });
});

test('of several groups the one with the most rights counts', () => {
  const judged = judgeIdentity(
    { ...ann, groups: ['writers', 'others', 'managers', 'readers'] },
    grouped,
  );
  assert.deepEqual(judged, { email: 'Ann@Acme.test', groupRole: 'owner' });
});

const given = (role: Role, groupRole: Role | null): GroupMembership => ({ role, groupRole });
const none: RoleChange = { change: 'none' };

type Case = [
  what: string,
  state: { current: GroupMembership | null; groupRole: Role | null; isNewcomer?: boolean },
  rules: IdentityRules,
  expected: RoleChange,
];
const withRole: IdentityRules = { ...grouped, role: 'viewer' };
const cases: Case[] = [
  [
    'a newcomer of a group joins with its role',
    { current: null, groupRole: 'editor', isNewcomer: true },
    withRole,
    { change: 'join', role: 'editor', groupRole: 'editor' },
  ],
  [
    'a newcomer without a group joins with the role of newcomers',
    { current: null, groupRole: null, isNewcomer: true },
    withRole,
    { change: 'join', role: 'viewer', groupRole: null },
  ],
  [
    'a newcomer joins nothing where neither is said',
    { current: null, groupRole: null, isNewcomer: true },
    grouped,
    none,
  ],
  [
    'a member who was removed does not return as a newcomer',
    { current: null, groupRole: null },
    withRole,
    none,
  ],
  [
    'a member of a group returns by the group',
    { current: null, groupRole: 'viewer' },
    withRole,
    { change: 'join', role: 'viewer', groupRole: 'viewer' },
  ],
  [
    'a role that a group gave follows the group, upwards',
    { current: given('viewer', 'viewer'), groupRole: 'owner' },
    grouped,
    { change: 'set', role: 'owner', groupRole: 'owner' },
  ],
  [
    'and downwards',
    { current: given('owner', 'owner'), groupRole: 'viewer' },
    grouped,
    { change: 'set', role: 'viewer', groupRole: 'viewer' },
  ],
  [
    'a role that stays the same is not written',
    { current: given('viewer', 'viewer'), groupRole: 'viewer' },
    grouped,
    none,
  ],
  [
    'a member who left all groups leaves',
    { current: given('editor', 'editor'), groupRole: null },
    grouped,
    { change: 'leave' },
  ],
  [
    'or falls back to the role of newcomers',
    { current: given('editor', 'editor'), groupRole: null },
    withRole,
    { change: 'set', role: 'viewer', groupRole: 'viewer' },
  ],
  [
    'a role that an owner changed since stays',
    { current: given('editor', 'viewer'), groupRole: 'viewer' },
    grouped,
    none,
  ],
  [
    'a role of an invitation stays',
    { current: given('owner', null), groupRole: 'viewer' },
    grouped,
    none,
  ],
  [
    'roles stay when groups no longer count',
    { current: given('editor', 'editor'), groupRole: null },
    open,
    none,
  ],
];
for (const [what, state, rules, expected] of cases) {
  test(what, () => {
    assert.deepEqual(roleChange({ isNewcomer: false, ...state }, rules), expected);
  });
}
