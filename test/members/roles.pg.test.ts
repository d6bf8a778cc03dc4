import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { changeRole, removeMember } from '../../src/members/roles.ts';
import type { Role } from '../../src/sessions/session.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);

async function organizationWith(...roles: Role[]) {
  const org = await makeOrganization(db);
  const members: string[] = [];
  for (const role of roles) {
    const member = await makeMember(db);
    await joinOrganization(db, { org, member, role });
    members.push(member);
  }
  return { org, members, writer: commandWriter(org) };
}

const owners = async (org: string) =>
  (await db`select from memberships where org_id = ${org} and role = 'owner'`).length;

test('the last owner can be neither demoted nor removed', async () => {
  const { org, members, writer } = await organizationWith('owner', 'editor');
  const [owner = '', editor = ''] = members;
  await assert.rejects(removeMember(db, writer, owner), { code: 'last_owner' });
  await assert.rejects(changeRole(db, writer, { memberId: owner, role: 'viewer' }), {
    code: 'last_owner',
  });
  await changeRole(db, writer, { memberId: editor, role: 'owner' });
  await removeMember(db, writer, owner);
  assert.equal(await owners(org), 1);
});

test('two owners who demote each other at once leave one', async () => {
  for (let round = 0; round < 5; round++) {
    const { org, members, writer } = await organizationWith('owner', 'owner', 'owner');
    const done = await Promise.allSettled(
      members.map((memberId, at) =>
        at === 1
          ? removeMember(db, writer, memberId)
          : changeRole(db, writer, { memberId, role: 'viewer' }),
      ),
    );
    assert.equal(done.filter(({ status }) => status === 'rejected').length, 1);
    assert.equal(await owners(org), 1);
  }
});

test('owners cannot change members of another organization', async () => {
  const [here, there] = [
    await organizationWith('owner'),
    await organizationWith('owner', 'viewer'),
  ];
  const stranger = there.members[1]!;
  await assert.rejects(removeMember(db, here.writer, stranger), { kind: 'not_found' });
  await assert.rejects(changeRole(db, here.writer, { memberId: stranger, role: 'owner' }), {
    kind: 'not_found',
  });
});

test('an owner changes a role and removes a member on the Members page', async () => {
  const { org, members } = await organizationWith('viewer');
  const { home, get, submit } = await memberBrowser(db, { app, org });
  const list = `${home}/settings/members`;
  assert.match(await (await get(list)).text(), new RegExp(`${list}/${members[0]}/role`));
  assert.match(await (await get(`${list}/${members[0]}/role`)).text(), /Change role/);
  const changed = await submit(`${list}/${members[0]}/role`, { role: 'editor' });
  assert.match(await changed.text(), /Role changed/);
  assert.match(await (await get(`${list}/${members[0]}/remove`)).text(), /loses access/);
  const removed = await submit(`${list}/${members[0]}/remove`);
  assert.match(await removed.text(), /Member removed/);
  const left = await db`select from memberships where org_id = ${org}`;
  assert.equal(left.length, 1);
  const acts = await db<{ act: string }[]>`
    select act from audit_events where target_id = ${members[0]!} order by at`;
  assert.deepEqual(
    acts.map(({ act }) => act),
    ['member.role_changed', 'member.removed'],
  );
});

test('the Members page explains why the last owner stays', async () => {
  const { org } = await organizationWith();
  const { home, get, post } = await memberBrowser(db, { app, org });
  const list = await (await get(`${home}/settings/members`)).text();
  assert.doesNotMatch(list, /Pending invitations/);
  const [row] = await db<
    { id: string }[]
  >`select member_id as id from memberships where org_id = ${org}`;
  for (const [act, form] of [
    ['role', { role: 'viewer' }],
    ['remove', {}],
  ] as const) {
    const answer = await post(`${home}/settings/members/${row!.id}/${act}`, form);
    assert.equal(answer.status, 422);
    assert.match(
      await answer.text(),
      /This is the last owner\. Make another member an owner first\./,
    );
  }
  assert.equal(await owners(org), 1);
});
