import type { Context } from 'hono';
import { recordAct } from '../audit/record.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { createOrganization } from '../organizations/manage.ts';
import { hashToken, newToken } from '../sessions/cookie.ts';
import { memberActor } from '../sessions/session.ts';
import { findLink, replaceWelcomeLink, takeLink } from './links.queries.ts';
import { hashPassword } from './password.ts';
import { hasMembers, insertMember } from './queries.ts';
import { saveRole } from './roles.queries.ts';
import { beginMemberSession, type SignInTools } from './sign-in.ts';

/** The link by which the first member comes in; a new one ends those before. None once there is a member. */
export async function makeWelcomeLink(db: Db, publicUrl: string): Promise<string | undefined> {
  const token = newToken();
  const isMade = await replaceWelcomeLink(db, hashToken(token));
  return isMade ? `${publicUrl}/welcome/${token}` : undefined;
}

/** Whether the link still makes the first member. */
export async function isWelcome(db: Db, token: string): Promise<boolean> {
  const link = await findLink(db, 'welcome', hashToken(token));
  return link !== undefined && !(await hasMembers(db));
}

export type FirstMember = {
  name: string;
  email: string;
  /** Null where the deployment takes no passwords: the next sign-in is at the OpenID provider. */
  password: string | null;
  organization: string;
};

/**
 * Makes the first member, who runs the deployment and owns the organization named. Returns the organization's slug;
 * nothing when the link does not work any more.
 */
export async function joinFirst(
  { db, publicUrl }: SignInTools,
  c: Context,
  { token, given }: { token: string; given: FirstMember },
): Promise<string | undefined> {
  const { name, email, password } = given;
  const address = clientAddress(c);
  const passwordHash = password === null ? null : await hashPassword(password, { address });
  return await inTransaction(db, async (tx) => {
    if (!(await takeLink(tx, 'welcome', hashToken(token)))) return undefined;
    if (await hasMembers(tx)) return undefined;
    const member = await insertMember(tx, { name, email, passwordHash, isOperator: true });
    if (!member) return undefined;
    const actor = memberActor(member, c.get('requestId'));
    const organization = await createOrganization(tx, actor, { name: given.organization });
    const orgId = organization.id;
    await saveRole(tx, { orgId, memberId: member.id, role: 'owner' });
    await recordAct(tx, { orgId, actor, act: 'member.joined', details: { role: 'owner' } });
    await beginMemberSession(tx, c, { publicUrl, member, by: 'link' });
    return organization.slug;
  });
}
