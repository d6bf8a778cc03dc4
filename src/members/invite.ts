import type { Actor, Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { hashToken, newToken } from '../sessions/cookie.ts';
import type { Role } from '../sessions/session.ts';
import { deleteInvitation, deleteInvitations, insertLink } from './links.queries.ts';
import { countInvitations, findMemberRoleByEmail, lockRoles } from './roles.queries.ts';

/** Proof that the members of an organization may be changed: an owner's, or the command line's; no editor's. */
export type OwnerWriter = Writer & { readonly role?: 'owner' };

export type InviteTools = {
  db: Db;
  secrets: Pick<Secrets, 'seal'>;
  publicUrl: string;
  /** Whether invitations go out by mail as well. */
  mails: boolean;
};

export type MadeInvitation = { id: string; email: string; url: string };

/** Invites an address to an organization. The invitation before, of the same address, ends. */
export async function inviteMember(
  tools: InviteTools,
  { orgId, actor }: OwnerWriter,
  invitation: WishedInvitation,
): Promise<MadeInvitation> {
  return await invite(tools, { isOperator: false, isShown: true, ...invitation, orgId, actor });
}

export type WishedInvitation = {
  email: string;
  role: Role;
  isOperator?: boolean;
  /** Whether anybody but the reader of the mail gets to see the link. */
  isShown?: boolean;
};

/** Invites an address to run the deployment, without an organization. */
export async function inviteOperator(
  tools: InviteTools,
  actor: Actor,
  email: string,
): Promise<MadeInvitation> {
  const place = { orgId: null, role: null, isOperator: true, isShown: true };
  return await invite(tools, { ...place, email, actor });
}

type Invitation = {
  orgId: string | null;
  role: Role | null;
  isOperator: boolean;
  isShown: boolean;
  email: string;
  actor: Actor;
};

async function invite(tools: InviteTools, { actor, isShown, ...invitation }: Invitation) {
  const { email, orgId, role, isOperator } = invitation;
  const token = newToken();
  const id = await inTransaction(tools.db, async (tx) => {
    if (orgId) await refuseMembers(tx, orgId, email);
    if (orgId && actor.kind !== 'command') await refuseMany(tx, orgId);
    await deleteInvitations(tx, orgId, email);
    const made = await insertLink(tx, {
      ...invitation,
      kind: 'invitation',
      provesEmail: tools.mails && !isShown,
      tokenHash: hashToken(token),
    });
    await recordAct(tx, {
      orgId,
      actor,
      act: 'member.invited',
      target: { kind: 'invitation', id: made },
      details: { role, operator: isOperator },
    });
    if (tools.mails) {
      const sealed = tools.secrets.seal(sealedFor(made), token).toString('base64');
      await enqueue(tx, [{ task: 'members.mail_invitation', payload: { link_id: made, sealed } }]);
    }
    return made;
  });
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

/** Each goes out as a mail in the name of this server, to any address. Replaced and withdrawn ones count too. */
export const mostInvitationsADay = 100;

async function refuseMany(tx: Sql, orgId: string) {
  const { made, next_in_seconds } = await countInvitations(tx, orgId, mostInvitationsADay);
  if (made < mostInvitationsADay) return;
  throw new Refusal(
    'rate_limited',
    `an organization sends at most ${mostInvitationsADay} invitations in 24 hours`,
    { code: 'too_many_invitations', retryInSeconds: next_in_seconds },
  );
}

export async function withdrawInvitation(db: Db, { orgId, actor }: OwnerWriter, id: string) {
  await inTransaction(db, async (tx) => {
    if (!(await deleteInvitation(tx, orgId, id))) throw notFound('invitation');
    const target = { kind: 'invitation', id };
    await recordAct(tx, { orgId, actor, act: 'invitation.withdrawn', target });
  });
}
