import type { Context } from 'hono';
import * as v from 'valibot';
import { type Actor, recordAct, type Writer } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import { Line } from '../lib/cli/command.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { isMailable, normalizeEmail } from '../lib/smtp/address.ts';
import { hashToken, memberActor, newToken, type Role } from '../sessions/session.ts';
import { tryAgain } from '../web/app/error-screens.tsx';
import { hashPassword } from './password.ts';
import {
  countInvitations,
  deleteInvitation,
  deleteInvitations,
  findMemberRole,
  findMemberRoleByEmail,
  insertLink,
  insertMember,
  type LiveLink,
  lockRoles,
  type MemberName,
  noteEmailProved,
  ranks,
  saveRole,
  setOperator,
  takeLink,
} from './queries.ts';
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

/** What to say at the field of an address that was not invited; any other error is thrown on. */
export function whyNotInvited(error: unknown): string {
  if (!(error instanceof Refusal)) throw error;
  const { code, retryInSeconds = 0 } = error;
  if (code === 'already_member')
    return 'This address belongs to a member already. Change the role in the list.';
  if (code === 'too_many_invitations')
    return `No invitation was sent: an organization sends at most ${mostInvitationsADay} in 24 hours. ${tryAgain(retryInSeconds)}`;
  throw error;
}

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

type WishedInvitation = {
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
const mostInvitationsADay = 100;

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

// What people type when they come in.

export const EmailField = v.pipe(
  v.string(),
  v.trim(),
  v.check(isMailable, 'Enter an email address such as ann@example.com.'),
  v.transform((text) => normalizeEmail(text) ?? text),
);

export const NameField = v.pipe(v.string(), v.trim(), v.nonEmpty('Enter a name.'), Line(200));

const longestTyped = 1000;

/** A password to be compared: whatever it is, it is wrong or right. */
export const PasswordField = v.pipe(
  v.string(),
  v.nonEmpty('Enter the password.'),
  v.maxLength(longestTyped, 'The password is too long.'),
);

/** A password to be set; `refusePassword` judges it once it is known whose it is. */
export const NewPasswordField = v.pipe(
  v.string(),
  v.nonEmpty('Choose a password.'),
  v.maxLength(longestTyped, 'The password is too long.'),
);
