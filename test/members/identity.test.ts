import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type GroupMembership,
  type IdentityRules,
  judgeIdentity,
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

test('judgeIdentity accepts a verified email', () => {
  assert.deepEqual(judgeIdentity(ann, open), { email: 'Ann@Acme.test', groupRole: null });
});

const refused: [what: string, over: object, domains: string[], why: string][] = [
  ['without an address', { email: null, isEmailVerified: false }, [], 'no_email'],
  ['with an invalid address', { email: 'ann' }, [], 'no_email'],
  ['without verification', { isEmailVerified: false }, ['other.test'], 'unverified'],
  ['of another domain', {}, ['other.test'], 'domain'],
  ['of a domain with our suffix', { email: 'a@evilacme.test' }, ['acme.test'], 'domain'],
  ['of a subdomain', { email: 'a@x.acme.test' }, ['acme.test'], 'domain'],
];
for (const [what, over, domains, why] of refused) {
  test(`judgeIdentity refuses an identity ${what}`, () => {
    assert.deepEqual(judgeIdentity({ ...ann, ...over }, { ...open, domains }), { refused: why });
  });
}

test('judgeIdentity ignores the case of a domain', () => {
  assert.ok('email' in judgeIdentity(ann, { ...open, domains: ['acme.test'] }));
});

test('judgeIdentity accepts a domain in its own script', () => {
  const judged = judgeIdentity(
    { ...ann, email: 'ann@müller.test' },
    { ...open, domains: ['xn--mller-kva.test'] },
  );
  assert.deepEqual(judged, { email: 'ann@xn--mller-kva.test', groupRole: null });
});

test('judgeIdentity uses the highest role of several groups', () => {
  const judged = judgeIdentity(
    { ...ann, groups: ['writers', 'others', 'managers', 'readers'] },
    grouped,
  );
  assert.deepEqual(judged, { email: 'Ann@Acme.test', groupRole: 'owner' });
});

const given = (role: Role, groupRole: Role | null): GroupMembership => ({ role, groupRole });
const withRole: IdentityRules = { ...grouped, role: 'viewer' };
const newcomer = { current: null, isNewcomer: true };
const removed = { current: null, isNewcomer: false };
const member = (role: Role, groupRole: Role | null) => ({
  current: given(role, groupRole),
  isNewcomer: false,
});
const to = (role: Role, groupRole: Role | null = role) => ({ role, groupRole });

type State = typeof newcomer | ReturnType<typeof member>;
const cases: [
  what: string,
  State,
  groupRole: Role | null,
  IdentityRules,
  ReturnType<typeof roleChange>,
][] = [
  ['lets a newcomer join by a group', newcomer, 'editor', withRole, to('editor')],
  ['lets a newcomer join', newcomer, null, withRole, to('viewer', null)],
  ['lets nobody join without a rule', newcomer, null, grouped, undefined],
  ['keeps a removed member out', removed, null, withRole, undefined],
  ['lets a removed member return by a group', removed, 'viewer', withRole, to('viewer')],
  ['follows the group upwards', member('viewer', 'viewer'), 'owner', grouped, to('owner')],
  ['follows the group downwards', member('owner', 'owner'), 'viewer', grouped, to('viewer')],
  [
    'writes nothing when the role stays the same',
    member('viewer', 'viewer'),
    'viewer',
    grouped,
    undefined,
  ],
  ['removes a member who left all groups', member('editor', 'editor'), null, grouped, 'leave'],
  ['falls back to the default role', member('editor', 'editor'), null, withRole, to('viewer')],
  ['keeps a role that an owner changed', member('editor', 'viewer'), 'viewer', grouped, undefined],
  ['keeps a role from an invitation', member('owner', null), 'viewer', grouped, undefined],
  ['keeps roles when groups no longer count', member('editor', 'editor'), null, open, undefined],
];
for (const [what, state, groupRole, rules, expected] of cases) {
  test(`roleChange ${what}`, () => {
    assert.deepEqual(roleChange({ ...state, groupRole }, rules), expected);
  });
}
