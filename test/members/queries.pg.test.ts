import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { readProofs } from '../../src/members/account.ts';
import {
  consumeInvitations,
  consumeLink,
  findCredentialsById,
  findLink,
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

test('readProofs counts unused credentials of the member', async () => {
  const [member_id, other] = [await makeMember(db), await makeMember(db)];
  const code = (over: object) => ({
    member_id,
    code_hash: randomBytes(32),
    used_at: null,
    ...over,
  });
  const codes = [code({}), code({ used_at: new Date() }), code({ member_id: other })];
  await db`insert into recovery_codes ${db(codes)}`;
  const key = { id: 'key', member_id: other, name: 'Key', public_key: Buffer.from('key') };
  await db`insert into passkeys ${db(key)}`;
  const proofs = await readProofs(db, member_id);
  assert.partialDeepStrictEqual(proofs, { passkeys: 0, recoveryCodes: 1, hasPassword: false });
});

type Link = Parameters<typeof insertLink>[1];

async function link(kind: Link['kind'], over: Partial<Link>, changes = {}) {
  const tokenHash = randomBytes(32);
  const id = await insertLink(db, { tokenHash, kind, validFor: '1 hour', ...over });
  if (Object.keys(changes).length > 0) {
    await db`update member_links set ${db(changes)} where id = ${id}`;
  }
  return { id, tokenHash };
}

test('links expire and only work for their kind', async () => {
  const memberId = await makeMember(db);
  const of = { welcome: {}, invitation: { email: 'a@people.test' }, reset: { memberId } };
  for (const kind of ['welcome', 'invitation', 'reset'] as const) {
    const { id, tokenHash } = await link(kind, of[kind]);
    const other = kind === 'reset' ? 'welcome' : 'reset';
    for (const read of [findLink, consumeLink]) {
      assert.equal(await read(db, other, tokenHash), undefined, `${kind} as ${other}`);
      const ended = await link(kind, of[kind], { expires_at: new Date(Date.now() - 6000) });
      assert.equal(await read(db, kind, ended.tokenHash), undefined, `late ${kind}`);
      assert.equal((await read(db, kind, tokenHash))?.id, id);
    }
    assert.equal(await findLink(db, kind, tokenHash), undefined, `used ${kind}`);
  }
});

test('invitations belong to their email in any case', async () => {
  const orgId = await makeOrganization(db);
  const email = `Ann-${randomUUID()}@people.test`;
  const here = await link('invitation', { email, orgId, role: 'viewer' });
  const other = await link('invitation', { email: `b${email}`, orgId, role: 'viewer' });
  const taken = await consumeInvitations(db, email.toUpperCase());
  assert.deepEqual(
    taken.map(({ id }) => id),
    [here.id],
  );
  assert.equal(await findLink(db, 'invitation', here.id), undefined);
  assert.ok(await findLink(db, 'invitation', other.id));
});
