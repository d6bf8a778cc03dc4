import type { Context } from 'hono';
import type { Actor, Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { hashToken, newToken } from '../sessions/cookie.ts';
import { memberActor, type Role } from '../sessions/session.ts';
import {
  deleteInvitation,
  deleteInvitations,
  insertLink,
  type LiveLink,
  takeLink,
} from './links.queries.ts';
import { hashPassword } from './password.ts';
import { insertMember, type MemberName, setOperator } from './queries.ts';
import { findMemberRoleByEmail, lockRoles, saveRole } from './roles.queries.ts';
import { beginMemberSession, type SignInTools } from './sign-in.ts';

/** Proof that the members of an organization may be changed: an owner's, or the command line's; no editor's. */
export type OwnerWriter = Writer & { readonly role?: 'owner' };

export type InviteTools = {
  db: Db;
  secrets: Pick<Secrets, 'seal'>;
  publicUrl: string;
  pump: () => void;
  /** Whether invitations go out by mail as well. */
  mails: boolean;
};

export type MadeInvitation = { id: string; email: string; url: string };

/** Invites an address to an organization. The invitation before, of the same address, ends. */
export async function inviteMember(
  tools: InviteTools,
  { orgId, actor }: OwnerWriter,
  invitation: { email: string; role: Role; isOperator?: boolean },
): Promise<MadeInvitation> {
  return await invite(tools, { isOperator: false, ...invitation, orgId, actor });
}

/** Invites an address to run the deployment, without an organization. */
export async function inviteOperator(
  tools: InviteTools,
  actor: Actor,
  email: string,
): Promise<MadeInvitation> {
  return await invite(tools, { orgId: null, role: null, isOperator: true, email, actor });
}

type Invitation = {
  orgId: string | null;
  role: Role | null;
  isOperator: boolean;
  email: string;
  actor: Actor;
};

async function invite(tools: InviteTools, { actor, ...invitation }: Invitation) {
  const { email, orgId, role, isOperator } = invitation;
  const token = newToken();
  const id = await inTransaction(tools.db, async (tx) => {
    if (orgId) await refuseMembers(tx, orgId, email);
    await deleteInvitations(tx, orgId, email);
    const made = await insertLink(tx, {
      ...invitation,
      kind: 'invitation',
      tokenHash: hashToken(token),
    });
    await recordAct(tx, {
      ...{ orgId, actor, act: 'member.invited' },
      target: { kind: 'invitation', id: made },
      details: { role, operator: isOperator },
    });
    if (tools.mails) {
      const sealed = tools.secrets.seal(sealedFor(made), token).toString('base64');
      await enqueue(tx, [{ task: 'members.mail_invitation', payload: { link_id: made, sealed } }]);
    }
    return made;
  });
  tools.pump();
  return { id, email, url: `${tools.publicUrl}/invitations/${token}` };
}

/** What the token of an invitation is sealed for until its mail is written. */
export const sealedFor = (linkId: string) => ({ owner: 'invitation', id: linkId });

async function refuseMembers(tx: Sql, orgId: string, email: string) {
  if (!(await lockRoles(tx, orgId))) throw notFound('organization');
  if (!(await findMemberRoleByEmail(tx, orgId, email))) return;
  throw new Refusal('conflict', 'this address belongs to a member of the organization already', {
    code: 'already_member',
  });
}

export async function withdrawInvitation(db: Db, { orgId, actor }: OwnerWriter, id: string) {
  await inTransaction(db, async (tx) => {
    if (!(await deleteInvitation(tx, orgId, id))) throw notFound('invitation');
    const target = { kind: 'invitation', id };
    await recordAct(tx, { orgId, actor, act: 'invitation.withdrawn', target });
  });
}

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
    return link;
  });
}

/** What an invitation gives to a member. */
export async function joinByInvitation(
  tx: Sql,
  { link, member, actor }: { link: LiveLink; member: { id: string }; actor: Actor },
) {
  const { orgId, role, isOperator } = link;
  const target = { kind: 'member', id: member.id };
  if (orgId && role) {
    await lockRoles(tx, orgId);
    await saveRole(tx, { orgId, memberId: member.id, role });
    await recordAct(tx, { orgId, actor, act: 'member.joined', target, details: { role } });
  }
  if (isOperator && (await setOperator(tx, member.id, true))) {
    await recordAct(tx, { orgId: null, actor, act: 'member.operator_made', target });
  }
}
