import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import {
  consumeInvitations,
  findCredentialsById,
  findInvitation,
  findMailedLink,
  insertLink,
  lockPassword,
} from '../../src/members/queries.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { makeMember } from '../support/make/session.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

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
