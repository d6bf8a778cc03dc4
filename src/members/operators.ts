import type { Actor } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { notFound, Refusal } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { type InviteTools, inviteOperator, type MadeInvitation } from './invite.ts';
import { findCredentials, lockOperators, setOperator } from './queries.ts';

/** Makes an operator of the member with this address; an address without an account is invited as one. */
export async function makeOperator(
  tools: InviteTools,
  actor: Actor,
  email: string,
): Promise<MadeInvitation | undefined> {
  const member = await findCredentials(tools.db, email);
  if (!member) return await inviteOperator(tools, actor, email);
  await inTransaction(tools.db, async (tx) => {
    if (!(await setOperator(tx, member.id, true))) return;
    const target = { kind: 'member', id: member.id };
    await recordAct(tx, { orgId: null, actor, act: 'member.operator_made', target });
  });
  return undefined;
}

/** Takes the role of an operator away. The last one keeps it: in the app it could not be given back. */
export async function removeOperator(db: Db, actor: Actor, memberId: string) {
  await inTransaction(db, async (tx) => {
    const operators = await lockOperators(tx);
    if (!operators.includes(memberId)) throw notFound('operator');
    if (operators.length === 1) {
      throw new Refusal('conflict', 'the deployment would be left without an operator', {
        code: 'last_operator',
      });
    }
    await setOperator(tx, memberId, false);
    const target = { kind: 'member', id: memberId };
    await recordAct(tx, { orgId: null, actor, act: 'member.operator_removed', target });
  });
}
