import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { findProofs, saveName } from '../../src/members/account.ts';
import { listOrganizationIds } from '../../src/members/account-acts.ts';
import {
  clearCodes,
  confirmSecret,
  findCodes,
  listTotpOfOtherKey,
  replaceRecoveryCodes,
  useStep,
} from '../../src/members/codes.ts';
import { clearSubject, deleteProofs, findOrganizationToJoin } from '../../src/members/oidc.ts';
import { listPasskeys } from '../../src/members/passkeys.ts';
import {
  countInvitations,
  countOwners,
  countResetLinks,
  deleteInvitation,
  deleteInvitations,
  deleteResetLinks,
  findCredentialsById,
  findInvitation,
  findInvitedLink,
  findLink,
  insertLink,
  type LinkKind,
  listAllMembers,
  listMembers,
  lockPassword,
  lockRoles,
  noteEmailProved,
  setOperator,
  takeInvitationsOf,
} from '../../src/members/queries.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
const beginSession = (member_id: string, used_at: Date) =>
  db`insert into sessions ${db({ token_hash: randomBytes(32), member_id, used_at })}`;

test('members of an organization are listed by name, then address, with their last use and second step', async () => {
  const [org, other] = [await makeOrganization(db), await makeOrganization(db)];
  const mark = randomUUID();
  const add = async (name: string, address: string, over = {}) => {
    const member = await makeMember(db, {
      name,
      email: `${address}-${mark}@members.test`,
      ...over,
    });
    await joinOrganization(db, { org, member, role: 'viewer' });
    return member;
  };
  const last = await add('bea', 'a');
  const second = await add('Ada', 'B', { totp_since: new Date() });
  const first = await add('ada', 'a2');
  const stranger = await makeMember(db);
  await joinOrganization(db, { org: other, member: stranger, role: 'owner' });
  await joinOrganization(db, { org: other, member: first, role: 'owner' });
  for (const minutes of [50, 5, 500]) await beginSession(second, ago(minutes));
  await beginSession(stranger, ago(1));
  const listed = await listMembers(db, org);
  assert.deepEqual(
    listed.map(({ id, role, has_second_step }) => [id, role, has_second_step]),
    [
      [first, 'viewer', false],
      [second, 'viewer', true],
      [last, 'viewer', false],
    ],
  );
  const uses = listed.map(({ last_used_at }) => last_used_at);
  assert.ok(uses[0] === null && uses[2] === null && Math.abs(+uses[1]! - +ago(5)) < 60_000);
  assert.equal(await countOwners(db, org), 0);
  assert.equal(await countOwners(db, other), 2);
});

test('all members are listed by address, with how many organizations they have', async () => {
  const [one, two] = [await makeOrganization(db), await makeOrganization(db)];
  const mark = randomUUID();
  const made = await Promise.all(
    ['!c', '!A', '!b'].map((name) => makeMember(db, { email: `${name}-${mark}@members.test` })),
  );
  const [c, a, b] = made as [string, string, string];
  for (const org of [one, two]) await joinOrganization(db, { org, member: a, role: 'viewer' });
  for (const minutes of [5, 50]) await beginSession(b, ago(minutes));
  const listed = (await listAllMembers(db)).filter(({ id }) => made.includes(id));
  assert.deepEqual(
    listed.map(({ id, organizations }) => [id, organizations]),
    [
      [a, 2],
      [b, 0],
      [c, 0],
    ],
  );
  assert.ok(Math.abs(+listed[1]!.last_used_at! - +ago(5)) < 60_000);
  assert.deepEqual(await listOrganizationIds(db, a), [one, two].sort());
});

test('passkeys are listed as they were added, of one time by their ids', async () => {
  const member_id = await makeMember(db);
  const other = await makeMember(db);
  const [early, late] = [ago(9), ago(3)];
  const mark = randomUUID();
  const rows = [
    { id: `b-${mark}`, member_id, created_at: late },
    { id: `a-${mark}`, member_id, created_at: late },
    { id: `c-${mark}`, member_id, created_at: early },
    { id: `d-${mark}`, member_id: other, created_at: early },
  ];
  for (const row of rows) {
    await db`insert into passkeys ${db({ ...row, name: 'Key', public_key: Buffer.from('key') })}`;
  }
  assert.deepEqual(
    (await listPasskeys(db, member_id)).map(({ id }) => id[0]),
    ['c', 'a', 'b'],
  );
});

test('the proofs of a member are its own, without recovery codes that were used', async () => {
  const [member, other] = [await makeMember(db), await makeMember(db)];
  const [used, ...unused] = [1, 2, 3].map(() => randomBytes(32));
  await replaceRecoveryCodes(db, member, [used!, ...unused]);
  await replaceRecoveryCodes(db, other, [randomBytes(32)]);
  await db`update recovery_codes set used_at = now() where code_hash = ${used!}`;
  const key = { name: 'Key', public_key: Buffer.from('key') };
  for (const member_id of [member, member, other]) {
    await db`insert into passkeys ${db({ id: randomUUID(), member_id, ...key })}`;
  }
  const proofs = await findProofs(db, member);
  assert.deepEqual([proofs?.passkeys, proofs?.recoveryCodes, proofs?.hasPassword], [2, 2, false]);
  assert.equal((await findCodes(db, member))?.recovery_codes, 2);
});

test('what changes nothing says so', async () => {
  const member = await makeMember(db, { name: 'Ann' });
  assert.equal(await saveName(db, member, 'Ann'), false);
  assert.equal(await saveName(db, member, 'Anna'), true);
  assert.equal(await setOperator(db, member, true), true);
  assert.equal(await setOperator(db, member, true), false);
  assert.equal(await clearCodes(db, member), false);
  assert.equal(await clearSubject(db, member), false);
  assert.equal(await deleteProofs(db, member), false);
  await db`update members set password_hash = 'a', totp_secret = 'b', sso_issuer = 'i', sso_subject = 's' where id = ${member}`;
  assert.equal(await clearSubject(db, member), true);
  assert.equal(await deleteProofs(db, member), true);
  const [left] = await db`
    select num_nonnulls(password_hash, totp_secret, sso_issuer)::int as left from members where id = ${member}`;
  assert.equal(left?.['left'], 0);
});

test('a password, a secret and an organization that are no longer there are not taken for those that were', async () => {
  const member = await makeMember(db, { password_hash: 'old', totp_secret: Buffer.from('old') });
  const checked = (await findCredentialsById(db, member))!;
  assert.equal(await lockPassword(db, checked), true);
  await db`update members set password_hash = 'new' where id = ${member}`;
  assert.equal(await lockPassword(db, checked), false);

  const confirm = (sealed: string) =>
    confirmSecret(db, { memberId: member, sealed: Buffer.from(sealed) }, 7);
  assert.deepEqual(
    [await confirm('new'), await confirm('old'), await confirm('old')],
    [false, true, false],
  );

  assert.equal(await lockRoles(db, await makeOrganization(db)), true);
  assert.equal(await lockRoles(db, randomUUID()), false);
});

const ways = [
  { what: 'a password', set: { password_hash: 'a' }, passkeys: 0 },
  { what: 'one-time codes', set: { totp_secret: 'b' }, passkeys: 0 },
  { what: 'a passkey', set: {}, passkeys: 1 },
  { what: 'two passkeys and a password', set: { password_hash: 'a' }, passkeys: 2 },
  { what: 'a passkey and a password', set: { password_hash: 'a' }, passkeys: 1 },
];
for (const { what, set, passkeys } of ways) {
  test(`the proofs of a member with ${what} are deleted, of no other member, and it says that there were some`, async () => {
    const [member, other] = [await makeMember(db, set), await makeMember(db, set)];
    for (const member_id of [member, other]) {
      const rows = Array.from({ length: passkeys }, () => ({ id: randomUUID(), member_id }));
      const key = { name: 'Key', public_key: Buffer.from('key') };
      for (const row of rows) await db`insert into passkeys ${db({ ...row, ...key })}`;
      const code_hash = randomBytes(32);
      await db`insert into recovery_codes ${db({ member_id, code_hash })}`;
    }
    const left = async (id: string) => {
      const [row] = await db`
        select num_nonnulls(password_hash, totp_secret)::int as secrets,
               (select count(*)::int from passkeys where member_id = m.id) as passkeys,
               (select count(*)::int from recovery_codes where member_id = m.id) as codes
        from members m where id = ${id}`;
      return { ...row };
    };
    const before = await left(other);
    assert.equal(await deleteProofs(db, member), true);
    assert.deepEqual(await left(member), { secrets: 0, passkeys: 0, codes: 0 });
    assert.deepEqual(await left(other), before);
    assert.equal(await deleteProofs(db, member), false);
  });
}

test('an address is noted as proved when it first was, and no later', async () => {
  const member = await makeMember(db);
  const other = await makeMember(db);
  const provedAt = async (id: string) =>
    (await db<{ at: Date }[]>`select email_proved_at as at from members where id = ${id}`)[0]?.at;
  await noteEmailProved(db, member);
  const first = await provedAt(member);
  assert.ok(first);
  await noteEmailProved(db, member);
  assert.deepEqual(await provedAt(member), first);
  assert.equal(await provedAt(other), null);
});

test('a code of a step that was used, or of one before it, does not count', async () => {
  const member = await makeMember(db, { totp_secret: Buffer.from('s'), totp_since: new Date() });
  const used: boolean[] = [];
  for (const step of [7, 7, 6, 8]) used.push(await useStep(db, member, step));
  assert.deepEqual(used, [true, false, false, true]);
  const pending = await makeMember(db, { totp_secret: Buffer.from('s') });
  assert.equal(await useStep(db, pending, 7), false);
});

test('secrets of another key are listed in the order of their members, after one of them', async () => {
  await db`update members set totp_secret = null`;
  const keyId = Buffer.from('key1');
  const ids: string[] = [];
  for (const sealed of ['key0-a', 'key0-b', 'key0-c']) {
    ids.push(await makeMember(db, { totp_secret: Buffer.from(sealed) }));
  }
  await makeMember(db, { totp_secret: Buffer.from('key1-d') });
  ids.sort();
  const listed = async (after: string | null) =>
    (await listTotpOfOtherKey(db, { keyId, after })).map(({ id }) => id);
  assert.deepEqual(await listed(null), ids);
  assert.deepEqual(await listed(ids[0]!), ids.slice(1));
});

const link = async (kind: LinkKind, over: Record<string, unknown>, changes = {}) => {
  const tokenHash = randomBytes(32);
  const id = await insertLink(db, { tokenHash, kind, ...over });
  if (Object.keys(changes).length > 0) {
    await db`update member_links set ${db(changes)} where id = ${id}`;
  }
  return { id, tokenHash };
};

test('a link lasts as long as its kind, and opens nothing of another kind', async () => {
  const memberId = await makeMember(db);
  const of = { welcome: {}, invitation: { email: 'a@people.test' }, reset: { memberId } };
  const hours = { welcome: 24, invitation: 7 * 24, reset: 1 };
  for (const kind of ['welcome', 'invitation', 'reset'] as const) {
    const { id, tokenHash } = await link(kind, of[kind]);
    const [row] = await db<{ hours: number }[]>`
      select round(extract(epoch from expires_at - now()) / 3600)::int as hours from member_links where id = ${id}`;
    assert.equal(row?.hours, hours[kind], kind);
    assert.equal((await findLink(db, kind, tokenHash))?.id, id);
    assert.equal(await findLink(db, kind === 'reset' ? 'welcome' : 'reset', tokenHash), undefined);
    assert.equal((await findInvitedLink(db, id))?.id, kind === 'invitation' ? id : undefined);
    for (const over of [{ used_at: new Date() }, { expires_at: ago(0.1) }]) {
      const ended = await link(kind, of[kind], over);
      assert.equal(await findLink(db, kind, ended.tokenHash), undefined);
    }
  }
});

test('links for a new password count while they work, and end with their member alone', async () => {
  const [memberId, other] = [await makeMember(db), await makeMember(db)];
  await link('reset', { memberId });
  await link('reset', { memberId });
  await link('reset', { memberId }, { used_at: new Date() });
  await link('reset', { memberId }, { expires_at: ago(1) });
  await link('reset', { memberId: other });
  assert.equal(await countResetLinks(db, memberId), 2);
  await deleteResetLinks(db, memberId);
  assert.equal(await countResetLinks(db, memberId), 0);
  assert.equal(await countResetLinks(db, other), 1);
});

test('invitations of an address are its own, in any spelling, at their own place', async () => {
  const [orgId, otherOrg] = [await makeOrganization(db), await makeOrganization(db)];
  const email = `Ann-${randomUUID()}@people.test`;
  const role = 'viewer' as const;
  const here = await link('invitation', { email, orgId, role });
  const used = await link('invitation', { email, orgId, role }, { used_at: new Date() });
  const there = await link('invitation', { email, orgId: otherOrg, role });
  const nowhere = await link('invitation', { email });
  const of = await link('invitation', { email: `b${email}`, orgId, role });
  assert.equal((await findInvitation(db, orgId, here.id))?.id, here.id);
  assert.equal(await findInvitation(db, otherOrg, here.id), undefined);
  assert.equal(await deleteInvitation(db, otherOrg, here.id), false);
  assert.equal(await deleteInvitation(db, orgId, used.id), false);
  await deleteInvitations(db, null, email.toUpperCase());
  assert.equal(await findInvitedLink(db, nowhere.id), undefined);
  assert.ok(await findInvitedLink(db, here.id));
  await deleteInvitations(db, orgId, email.toLowerCase());
  assert.equal(await findInvitedLink(db, here.id), undefined);
  assert.ok((await findInvitedLink(db, there.id)) && (await findInvitedLink(db, of.id)));
  const taken = await takeInvitationsOf(db, email.toUpperCase());
  assert.deepEqual(
    taken.map(({ id }) => id),
    [there.id],
  );
  assert.equal((await takeInvitationsOf(db, email)).length, 0);
});

test('invitations of a day count, those of commands aside, and the first of the newest says when the next may go', async () => {
  const [org_id, other] = [await makeOrganization(db), await makeOrganization(db)];
  const made = { act: 'member.invited', actor_kind: 'member', actor: 'Ann' };
  const events = [
    { ...made, org_id, at: ago(1) },
    { ...made, org_id, at: ago(60) },
    { ...made, org_id, at: ago(23 * 60) },
    { ...made, org_id, at: ago(24 * 60 + 1) },
    { ...made, org_id, at: ago(2), actor_kind: 'command' },
    { ...made, org_id, at: ago(3), act: 'member.removed' },
    { ...made, org_id: other, at: ago(4) },
  ];
  for (const event of events) await db`insert into audit_events ${db(event)}`;
  const all = await countInvitations(db, org_id, 100);
  assert.equal(all.made, 3);
  assert.ok(Math.abs(all.next_in_seconds - 3600) < 30, String(all.next_in_seconds));
  const newest = await countInvitations(db, org_id, 2);
  assert.equal(newest.made, 2);
  assert.ok(Math.abs(newest.next_in_seconds - 23 * 3600) < 30, String(newest.next_in_seconds));
});

test('newcomers join the organization that is named by id or slug, else the only one there is', async () => {
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
