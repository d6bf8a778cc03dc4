import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandActor, commandWriter } from '../../src/audit/acts.ts';
import { inTransaction } from '../../src/lib/db/db.ts';
import { joinByInvitation } from '../../src/members/invite.ts';
import { followGroups } from '../../src/members/oidc.ts';
import { type LiveLink, saveRole } from '../../src/members/queries.ts';
import { changeRole, removeMember } from '../../src/members/roles.ts';
import { lockOrganization } from '../../src/organizations/queries.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';

const { db } = await testDatabase();
const actor = commandActor();

type Place = { orgId: string; memberId: string };

const invitationTo = (orgId: string) =>
  ({ orgId, role: 'editor', isOperator: false }) as Partial<LiveLink> as LiveLink;
const rules = { domains: [], role: null, groups: [{ group: 'readers', role: 'viewer' }] } as const;

const acts: [what: string, act: (place: Place) => Promise<unknown>, refused: string | null][] = [
  [
    'another role',
    ({ orgId, memberId }) => changeRole(db, commandWriter(orgId), { memberId, role: 'editor' }),
    'last_owner',
  ],
  [
    'the removal',
    ({ orgId, memberId }) => removeMember(db, commandWriter(orgId), memberId),
    'last_owner',
  ],
  [
    'an invitation',
    ({ orgId, memberId }) =>
      inTransaction(db, (tx) =>
        joinByInvitation(tx, { link: invitationTo(orgId), member: { id: memberId }, actor }),
      ),
    null,
  ],
  [
    'the loss of a group',
    ({ orgId, memberId }) =>
      inTransaction(db, (tx) =>
        followGroups(tx, {
          orgId,
          member: { id: memberId },
          actor,
          groupRole: null,
          isNewcomer: false,
          rules,
        }),
      ),
    null,
  ],
];
for (const [what, act, refused] of acts) {
  test(`${what} of a viewer who has just become the only owner keeps the owner`, async () => {
    const orgId = await makeOrganization(db);
    const [memberId, before] = [await makeMember(db), await makeMember(db)];
    await joinOrganization(db, { org: orgId, member: memberId, role: 'viewer' });
    await joinOrganization(db, { org: orgId, member: before, role: 'owner' });
    await db`update memberships set group_role = 'viewer' where member_id = ${memberId}`;
    const doing = await db.begin(async (tx) => {
      await lockOrganization(tx, orgId);
      const waiting = Promise.allSettled([act({ orgId, memberId })]);
      await untilLockWaits(db);
      await saveRole(tx, { orgId, memberId, role: 'owner' });
      await saveRole(tx, { orgId, memberId: before, role: 'viewer' });
      return { waiting };
    });
    const [outcome] = await doing.waiting;
    const code = outcome.status === 'rejected' ? outcome.reason.code : null;
    assert.equal(code, refused);
    const owners = await db<{ id: string }[]>`
      select member_id as id from memberships where org_id = ${orgId} and role = 'owner'`;
    assert.deepEqual([...owners], [{ id: memberId }]);
  });
}
