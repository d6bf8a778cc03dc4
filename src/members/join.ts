import type { Context } from 'hono';
import type { Actor } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { Refusal } from '../errors.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { hashToken } from '../sessions/cookie.ts';
import { memberActor } from '../sessions/session.ts';
import { type LiveLink, takeLink } from './links.queries.ts';
import { hashPassword } from './password.ts';
import { insertMember, type MemberName, noteEmailProved, setOperator } from './queries.ts';
import { ranks } from './ranks.rules.ts';
import { findMemberRole, lockRoles, saveRole } from './roles.queries.ts';
import { beginMemberSession, type SignInTools } from './sign-in.ts';

/**
 * Makes the account of an address that was invited, and signs it in. Returns nothing when the link does not work any
 * more; refused when the address got an account in the meantime.
 */
export async function joinAsNewMember(
  { db, publicUrl }: SignInTools,
  c: Context,
  { token, name, password }: { token: string; name: string; password: string },
): Promise<LiveLink | undefined> {
  const passwordHash = await hashPassword(password, { address: clientAddress(c) });
  return await inTransaction(db, async (tx) => {
    const link = await takeLink(tx, 'invitation', hashToken(token));
    if (!link) return undefined;
    const email = link.email ?? '';
    const member = await insertMember(tx, { email, name, passwordHash, isOperator: false });
    if (!member) throw hasAccount();
    await joinByInvitation(tx, { link, member, actor: memberActor(member, c.get('requestId')) });
    if (link.provesEmail) await noteEmailProved(tx, member.id);
    await beginMemberSession(tx, c, { publicUrl, member, by: 'link' });
    return link;
  });
}

const hasAccount = () =>
  new Refusal(
    'conflict',
    'There is an account for this address already. Sign in, and open the link again.',
    {
      code: 'has_account',
    },
  );

/** Takes an invitation for a member who is signed in, if it is for the member's address. */
export async function joinAsMember(
  db: Db,
  { token, member, actor }: { token: string; member: MemberName; actor: Actor },
): Promise<LiveLink | undefined> {
  return await inTransaction(db, async (tx) => {
    const link = await takeLink(tx, 'invitation', hashToken(token));
    if (!link) return undefined;
    if (link.email?.toLowerCase() !== member.email.toLowerCase()) {
      throw new Refusal(
        'forbidden',
        'This invitation is for another address than the one you are signed in with.',
      );
    }
    await joinByInvitation(tx, { link, member, actor });
    if (link.provesEmail) await noteEmailProved(tx, member.id);
    return link;
  });
}

/** What an invitation gives to a member. A role that it has by now is not made smaller. */
export async function joinByInvitation(
  tx: Sql,
  { link, member, actor }: { link: LiveLink; member: { id: string }; actor: Actor },
) {
  const { orgId, role, isOperator } = link;
  const target = { kind: 'member', id: member.id };
  if (orgId && role) {
    await lockRoles(tx, orgId);
    const current = await findMemberRole(tx, orgId, member.id);
    if (!current || ranks[current.role] < ranks[role]) {
      await saveRole(tx, { orgId, memberId: member.id, role });
      const act = current ? 'member.role_changed' : 'member.joined';
      await recordAct(tx, { orgId, actor, act, target, details: { role } });
    }
  }
  if (isOperator && (await setOperator(tx, member.id, true))) {
    await recordAct(tx, { orgId: null, actor, act: 'member.operator_made', target });
  }
}
