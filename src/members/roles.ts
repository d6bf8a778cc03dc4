import { type Actor, changesOf, recordAct } from '../audit/acts.ts';
import { notFound, orNotFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { lockOrganization } from '../organizations/queries.ts';
import type { Role } from '../sessions/session.ts';
import { type InviteTools, inviteOperator, type OwnerWriter } from './invite.ts';
import {
  countOwners,
  deleteRole,
  findCredentials,
  findMemberRole,
  saveRole,
  setOperator,
} from './queries.ts';

export async function changeRole(
  db: Db,
  writer: OwnerWriter,
  { memberId, role }: { memberId: string; role: Role },
) {
  const { orgId } = writer;
  return await inTransaction(db, async (tx) => {
    const member = await lockMember(tx, orgId, memberId);
    if (member.role === role) return member;
    if (member.role === 'owner') await keepOneOwner(tx, orgId);
    await saveRole(tx, { orgId, memberId, role });
    const target = { kind: 'member', id: memberId };
    const details = { changes: changesOf(member, { role }) };
    await recordAct(tx, { ...writer, act: 'member.role_changed', target, details });
    return { ...member, role };
  });
}

/** Removes a member from the organization. The account and its other organizations stay. */
export async function removeMember(db: Db, writer: OwnerWriter, memberId: string) {
  const { orgId } = writer;
  return await inTransaction(db, async (tx) => {
    const member = await lockMember(tx, orgId, memberId);
    if (member.role === 'owner') await keepOneOwner(tx, orgId);
    await deleteRole(tx, orgId, memberId);
    const target = { kind: 'member', id: memberId };
    const details = { role: member.role };
    await recordAct(tx, { ...writer, act: 'member.removed', target, details });
    return member;
  });
}

/** Serializes role changes, so that two owners cannot remove each other at the same moment. */
async function lockMember(tx: Sql, orgId: string, memberId: string) {
  await lockOrganization(tx, orgId);
  return orNotFound(await findMemberRole(tx, orgId, memberId), 'member');
}

async function keepOneOwner(tx: Sql, orgId: string) {
  if ((await countOwners(tx, orgId)) > 1) return;
  throw new Refusal(
    'conflict',
    'an organization needs an owner: make another member an owner first',
    { code: 'last_owner' },
  );
}

/** Makes the member an operator. An address without an account gets an invitation. */
export async function makeOperator(tools: InviteTools, actor: Actor, email: string) {
  const member = await findCredentials(tools.db, email);
  if (!member) return await inviteOperator(tools, actor, email);
  await inTransaction(tools.db, async (tx) => {
    if (!(await setOperator(tx, member.id, true))) return;
    const target = { kind: 'member', id: member.id };
    await recordAct(tx, { orgId: null, actor, act: 'member.operator_made', target });
  });
  return undefined;
}

/** Removes an operator, but never the last one: only operators can add operators in the app. */
export async function removeOperator(db: Db, actor: Actor, memberId: string) {
  await inTransaction(db, async (tx) => {
    const operators = await tx<{ id: string }[]>`
      select id from members where is_operator order by id for update`;
    if (!operators.some(({ id }) => id === memberId)) throw notFound('operator');
    if (operators.length === 1) {
      throw new Refusal('conflict', 'the deployment needs an operator', {
        code: 'last_operator',
      });
    }
    await setOperator(tx, memberId, false);
    const target = { kind: 'member', id: memberId };
    await recordAct(tx, { orgId: null, actor, act: 'member.operator_removed', target });
  });
}
