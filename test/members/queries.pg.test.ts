import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { findProofs } from '../../src/members/account.ts';
import { findOrganizationToJoin } from '../../src/members/oidc.ts';
import {
  consumeInvitations,
  countInvitations,
  countOwners,
  countResetLinks,
  deleteMemberLinks,
  findCredentialsById,
  findInvitation,
  findLink,
  findMailedLink,
  insertLink,
  listAllMembers,
  listMembers,
  lockPassword,
} from '../../src/members/queries.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);

test('listMembers sorts by name and email, with two-step verification', async () => {
  const [org, other] = [await makeOrganization(db), await makeOrganization(db)];
  const mark = randomUUID();
  const add = async (name: string, address: string, over = {}) => {
    const email = `${address}-${mark}@members.test`;
    const member = await makeMember(db, { name, email, ...over });
    await joinOrganization(db, { org, member, role: 'viewer' });
    return member;
  };
  const last = await add('bea', 'a');
  const second = await add('Ada', 'B', { totp_since: new Date() });
  const first = await add('ada', 'a2');
  await joinOrganization(db, { org: other, member: first, role: 'owner' });
  assert.deepEqual(
    (await listMembers(db, org)).map(({ id, has_second_step }) => [id, has_second_step]),
    [
      [first, false],
      [second, true],
      [last, false],
    ],
  );
  assert.deepEqual([await countOwners(db, org), await countOwners(db, other)], [0, 1]);
  const all = (await listAllMembers(db)).filter(({ email }) => email.includes(mark));
  assert.deepEqual(
    all.map(({ id, organizations }) => [id, organizations]),
    [
      [last, 1],
      [first, 2],
      [second, 1],
    ],
  );
});

test('findProofs counts unused credentials of the member', async () => {
  const [member, other] = [await makeMember(db), await makeMember(db)];
  for (const member_id of [member, member, other]) {
    const key = { id: randomUUID(), member_id, name: 'Key', public_key: Buffer.from('key') };
    await db`insert into passkeys ${db(key)}`;
    await db`insert into recovery_codes ${db({ member_id, code_hash: randomBytes(32) })}`;
  }
  await db`
    insert into recovery_codes
      ${db({ member_id: member, code_hash: randomBytes(32), used_at: new Date() })}`;
  const proofs = await findProofs(db, member);
  assert.partialDeepStrictEqual(proofs, { passkeys: 2, recoveryCodes: 2, hasPassword: false });
});

test('lockPassword rejects a password that changed after the check', async () => {
  const member = await makeMember(db, { password_hash: 'old' });
  const checked = (await findCredentialsById(db, member))!;
  assert.equal(await lockPassword(db, checked), true);
  await db`update members set password_hash = 'new' where id = ${member}`;
  assert.equal(await lockPassword(db, checked), false);
});

type Link = Parameters<typeof insertLink>[1];

async function link(kind: Link['kind'], over: Partial<Link>, changes = {}) {
  const tokenHash = randomBytes(32);
  const id = await insertLink(db, { tokenHash, kind, ...over });
  if (Object.keys(changes).length > 0) {
    await db`update member_links set ${db(changes)} where id = ${id}`;
  }
  return { id, tokenHash };
}

test('links expire by kind and only work for their kind', async () => {
  const memberId = await makeMember(db);
  const of = { welcome: {}, invitation: { email: 'a@people.test' }, reset: { memberId } };
  const hours = { welcome: 24, invitation: 7 * 24, reset: 1 };
  for (const kind of ['welcome', 'invitation', 'reset'] as const) {
    const { id, tokenHash } = await link(kind, of[kind]);
    const [row] = await db<{ hours: number }[]>`
      select round(extract(epoch from expires_at - now()) / 3600)::int as hours
      from member_links where id = ${id}`;
    assert.equal(row?.hours, hours[kind], kind);
    assert.equal((await findLink(db, kind, tokenHash))?.id, id);
    assert.equal(await findLink(db, kind === 'reset' ? 'welcome' : 'reset', tokenHash), undefined);
    for (const over of [{ used_at: new Date() }, { expires_at: ago(0.1) }]) {
      const ended = await link(kind, of[kind], over);
      assert.equal(await findLink(db, kind, ended.tokenHash), undefined);
    }
  }
});

test("countResetLinks counts working links, deleteMemberLinks one member's", async () => {
  const [memberId, other] = [await makeMember(db), await makeMember(db)];
  await link('reset', { memberId });
  await link('reset', { memberId }, { used_at: new Date() });
  await link('reset', { memberId }, { expires_at: ago(1) });
  await link('reset', { memberId: other });
  assert.equal(await countResetLinks(db, memberId), 1);
  await deleteMemberLinks(db, memberId);
  assert.equal(await countResetLinks(db, memberId), 0);
  assert.equal(await countResetLinks(db, other), 1);
});

test('invitations belong to their email in any case and organization', async () => {
  const [orgId, otherOrg] = [await makeOrganization(db), await makeOrganization(db)];
  const email = `Ann-${randomUUID()}@people.test`;
  const here = await link('invitation', { email, orgId, role: 'viewer' });
  const other = await link('invitation', { email: `b${email}`, orgId, role: 'viewer' });
  assert.equal((await findInvitation(db, orgId, here.id))?.id, here.id);
  assert.equal(await findInvitation(db, otherOrg, here.id), undefined);
  const taken = await consumeInvitations(db, email.toUpperCase());
  assert.deepEqual(
    taken.map(({ id }) => id),
    [here.id],
  );
  assert.equal(await findMailedLink(db, 'invitation', here.id), undefined);
  assert.ok(await findMailedLink(db, 'invitation', other.id));
});

test('countInvitations ignores commands and returns the next time', async () => {
  const [org_id, other] = [await makeOrganization(db), await makeOrganization(db)];
  const made = { act: 'member.invited', actor_kind: 'member', actor: 'Ann' };
  for (const event of [
    { ...made, org_id, at: ago(60) },
    { ...made, org_id, at: ago(23 * 60) },
    { ...made, org_id, at: ago(24 * 60 + 1) },
    { ...made, org_id, at: ago(2), actor_kind: 'command' },
    { ...made, org_id, at: ago(3), act: 'member.removed' },
    { ...made, org_id: other, at: ago(4) },
  ])
    await db`insert into audit_events ${db(event)}`;
  for (const [max, count, hours] of [
    [100, 2, 1],
    [1, 1, 23],
  ] as const) {
    const counted = await countInvitations(db, org_id, max);
    assert.equal(counted.count, count);
    assert.ok(Math.abs(counted.next_in_seconds - hours * 3600) < 30);
  }
});

test('findOrganizationToJoin finds by id, by slug or the only one', async () => {
  await db`delete from organizations`;
  const slug = `alder-${randomUUID()}`;
  const id = await makeOrganization(db, { slug });
  assert.equal(await findOrganizationToJoin(db, null), id);
  await makeOrganization(db);
  assert.equal(await findOrganizationToJoin(db, null), undefined);
  for (const wanted of [id.toUpperCase(), slug.toUpperCase()]) {
    assert.equal(await findOrganizationToJoin(db, wanted), id);
  }
  assert.equal(await findOrganizationToJoin(db, randomUUID()), undefined);
});
