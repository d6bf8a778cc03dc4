import type { Context } from 'hono';
import * as v from 'valibot';
import { type Actor, changesOf, maskAddress, recordAct, type Writer } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inTransaction, one, type Sql } from '../lib/db/db.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { isMailable, normalizeEmail } from '../lib/smtp/address.ts';
import { Line } from '../lib/validation/parse.ts';
import { isKnownZone, lockOrganization, updateOrganization } from '../organizations/queries.ts';
import { hashToken, memberActor, newToken, type Role } from '../sessions/session.ts';
import { tryAgain } from '../web/app/error-screens.tsx';
import { hashPassword } from './password.ts';
import {
  consumeLink,
  countOwners,
  findMemberRole,
  findMemberRoleByEmail,
  insertLink,
  insertMember,
  type LiveLink,
  type MemberName,
  markEmailProved,
  ranks,
  saveRole,
  setOperator,
} from './queries.ts';
import { type SignInTools, startMemberSession } from './sign-in.ts';

/**
 * Creates the account of an invited address and signs it in. Returns undefined if the link no longer works, and
 * refuses an address that got an account in the meantime.
 */
export async function joinAsNewMember(
  { db, publicUrl }: SignInTools,
  c: Context,
  { token, name, password, timeZone }: Joining & { name: string; password: string },
): Promise<LiveLink | undefined> {
  const passwordHash = await hashPassword(password, { address: clientAddress(c) });
  return await inTransaction(db, async (tx) => {
    const link = await consumeLink(tx, 'invitation', hashToken(token));
    if (!link) return undefined;
    const email = link.email ?? '';
    const member = await insertMember(tx, { email, name, passwordHash, isOperator: false });
    if (!member) {
      throw new Refusal(
        'conflict',
        'This email already has an account. Sign in and open the link again.',
        { code: 'has_account' },
      );
    }
    const actor = memberActor(member, c.get('requestId'));
    await joinByInvitation(tx, { link, member, actor, timeZone });
    await startMemberSession(tx, c, { publicUrl, member, by: 'link' });
    return link;
  });
}

/** `timeZone` comes from the browser and is null without JavaScript. */
type Joining = { token: string; timeZone: string | null };

export async function joinAsMember(
  db: Db,
  { token, member, actor, timeZone }: Joining & { member: MemberName; actor: Actor },
): Promise<LiveLink | undefined> {
  return await inTransaction(db, async (tx) => {
    const link = await consumeLink(tx, 'invitation', hashToken(token));
    if (link && link.email?.toLowerCase() !== member.email.toLowerCase()) {
      throw new Refusal(
        'forbidden',
        'This invitation is for a different email from the one you signed in with.',
      );
    }
    if (link) await joinByInvitation(tx, { link, member, actor, timeZone });
    return link;
  });
}

type InvitationJoin = {
  link: LiveLink;
  member: { id: string };
  actor: Actor;
  timeZone?: string | null;
};

/**
 * Gives the member the invited role, but never lowers an existing role. The first owner's time zone becomes the
 * organization's, unless one was set.
 */
export async function joinByInvitation(
  tx: Sql,
  { link, member, actor, timeZone = null }: InvitationJoin,
) {
  const { orgId, role, isOperator } = link;
  const target = { kind: 'member', id: member.id };
  if (link.provesEmail) await markEmailProved(tx, member.id);
  if (orgId && role) {
    await lockOrganization(tx, orgId); // serializes role changes
    const current = await findMemberRole(tx, orgId, member.id);
    if (!current || ranks[current.role] < ranks[role]) {
      if (role === 'owner') await adoptTimeZone(tx, { orgId, actor, timeZone });
      await saveRole(tx, { orgId, memberId: member.id, role });
      const act = current ? 'member.role_changed' : 'member.joined';
      await recordAct(tx, { orgId, actor, act, target, details: { role } });
    }
  }
  if (isOperator && (await setOperator(tx, member.id, true))) {
    await recordAct(tx, { orgId: null, actor, act: 'member.operator_made', target });
  }
}

type ZoneChange = { orgId: string; actor: Actor; timeZone: string | null };

/** Sets the organization's time zone from its first owner's browser. Call it before the owner's role is saved. */
export async function adoptTimeZone(tx: Sql, { orgId, actor, timeZone }: ZoneChange) {
  if (timeZone === null || (await countOwners(tx, orgId)) > 0) return;
  const before = await lockOrganization(tx, orgId);
  const isTaken = before?.time_zone === 'UTC' && timeZone !== 'UTC';
  if (!isTaken || !(await isKnownZone(tx, timeZone))) return;
  const changes = changesOf(before, { time_zone: timeZone });
  await updateOrganization(tx, orgId, { time_zone: timeZone });
  const target = { kind: 'organization', id: orgId };
  await recordAct(tx, { orgId, actor, act: 'organization.changed', target, details: { changes } });
}

/** Describes a refused invitation for the email field. Rethrows any other error. */
export function invitationError(error: unknown): string {
  if (!(error instanceof Refusal)) throw error;
  const { code, retryInSeconds = 0 } = error;
  if (code === 'already_member')
    return 'This person is already a member. Change the role in the list.';
  if (code === 'too_many_invitations')
    return `Not sent: you can send at most ${maxInvitationsPerDay} invitations in 24 hours. ${tryAgain(retryInSeconds)}`;
  throw error;
}

/** Proof that the caller may change members: an owner or the command line, but not an editor. */
export type OwnerWriter = Writer & { readonly role?: 'owner' };

export type InviteTools = {
  db: Db;
  secrets: Pick<Secrets, 'seal'>;
  publicUrl: string;
  mails: boolean;
};

type Invitation = {
  email: string;
  role?: Role;
  isOperator?: boolean;
  /** The link is shown to somebody other than the recipient, so using it doesn't prove the address. */
  isShown?: boolean;
};

/** Invites an address and replaces its earlier invitation. */
export const inviteMember = (
  tools: InviteTools,
  { orgId, actor }: OwnerWriter,
  invitation: Invitation & { role: Role },
) => invite(tools, actor, { ...invitation, orgId });

export const inviteOperator = (tools: InviteTools, actor: Actor, email: string) =>
  invite(tools, actor, { email, isOperator: true });

/** Emails and screens tell it in words. */
const validFor = '7 days';

/** Limits abuse: an invitation mails any address in this server's name. Replaced and withdrawn ones count too. */
const maxInvitationsPerDay = 100;

async function invite(
  { db, secrets, publicUrl, mails }: InviteTools,
  actor: Actor,
  invitation: Invitation & { orgId?: string },
) {
  const { email, orgId = null, role = null, isOperator = false, isShown = true } = invitation;
  const token = newToken();
  const id = await inTransaction(db, async (tx) => {
    if (orgId) await refuseInvitation(tx, { orgId, email, actor });
    await tx`
      delete from member_links
      where kind = 'invitation' and used_at is null and lower(email) = lower(${email})
        and org_id is not distinct from ${orgId}::uuid`;
    const provesEmail = mails && !isShown;
    const link = { email, orgId, role, isOperator, provesEmail, tokenHash: hashToken(token) };
    const linkId = await insertLink(tx, { ...link, kind: 'invitation', validFor });
    const target = { kind: 'invitation', id: linkId };
    const details = { name: maskAddress(email), role, operator: isOperator };
    await recordAct(tx, { orgId, actor, act: 'member.invited', target, details });
    if (mails) {
      const sealed = secrets.seal(sealedFor(linkId), token).toString('base64');
      const payload = { link_id: linkId, sealed };
      await enqueue(tx, [{ task: 'members.mail_invitation', payload }]);
    }
    return linkId;
  });
  return { id, email, url: `${publicUrl}/invitations/${token}` };
}

/** Binds the sealed token to its invitation until the mail is written. */
export const sealedFor = (linkId: string) => ({ owner: 'invitation', id: linkId });

async function refuseInvitation(
  tx: Sql,
  { orgId, email, actor }: { orgId: string; email: string; actor: Actor },
) {
  if (!(await lockOrganization(tx, orgId))) throw notFound('organization');
  if (await findMemberRoleByEmail(tx, orgId, email)) {
    throw new Refusal('conflict', 'this person is already a member of the organization', {
      code: 'already_member',
    });
  }
  if (actor.kind === 'command') return;
  const { count, next_in_seconds } = one(
    await tx<{ count: number; next_in_seconds: number }[]>`
      select count(*)::int as count,
             greatest(1, ceil(extract(epoch from min(at) + interval '24 hours' - now())))::int as next_in_seconds
      from (
        select at
        from audit_events
        where org_id = ${orgId} and at > now() - interval '24 hours' and act = 'member.invited'
          and actor_kind <> 'command'
        order by at desc
        limit ${maxInvitationsPerDay}
      ) newest`,
  );
  if (count < maxInvitationsPerDay) return;
  throw new Refusal(
    'rate_limited',
    `an organization can send at most ${maxInvitationsPerDay} invitations in 24 hours`,
    { code: 'too_many_invitations', retryInSeconds: next_in_seconds },
  );
}

export async function withdrawInvitation(db: Db, writer: OwnerWriter, id: string) {
  await inTransaction(db, async (tx) => {
    const [link] = await tx<{ email: string }[]>`
      delete from member_links
      where org_id = ${writer.orgId} and id = ${id} and kind = 'invitation' and used_at is null
      returning email`;
    if (!link) throw notFound('invitation');
    const target = { kind: 'invitation', id };
    const details = { name: maskAddress(link.email) };
    await recordAct(tx, { ...writer, act: 'invitation.withdrawn', target, details });
  });
}

export const EmailField = v.pipe(
  v.string(),
  v.trim(),
  v.check(isMailable, 'Enter an email address such as ann@example.com.'),
  v.transform((text) => normalizeEmail(text) ?? text),
);

export const NameField = v.pipe(v.string(), v.trim(), v.nonEmpty('Enter a name.'), Line(200));

const passwordField = (whenEmpty: string) =>
  v.pipe(v.string(), v.nonEmpty(whenEmpty), v.maxLength(1000, 'The password is too long.'));

export const PasswordField = passwordField('Enter the password.');

/** A new password. `validatePassword` checks its strength, which depends on the member. */
export const NewPasswordField = passwordField('Choose a password.');
