import type { Context } from 'hono';
import { type Actor, recordAct } from '../audit/acts.ts';
import { Refusal } from '../errors.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import type { OidcIdentity } from '../lib/oidc/provider.ts';
import { mailableAddress, normalizeEmail } from '../lib/smtp/address.ts';
import { oneLine } from '../lib/validation/parse.ts';
import { lockOrganization } from '../organizations/queries.ts';
import { deleteSessions, renewProof } from '../sessions/queries.ts';
import { memberActor, type Role, type SignedInMember } from '../sessions/session.ts';
import type { OidcGroup, OidcSettings } from '../settings.ts';
import { recordAccountAct } from './account-acts.ts';
import { adoptTimeZone, joinByInvitation } from './invite.ts';
import {
  consumeInvitations,
  countOwners,
  deleteMemberLinks,
  deleteRole,
  insertMember,
  type MemberName,
  markEmailProved,
  ranks,
  saveRole,
} from './queries.ts';
import { type SignInTools, startMemberSession } from './sign-in.ts';

export type SsoRefusal = RefusedIdentity | 'other_account' | 'no_access';

const maxName = 200;

/**
 * Signs in the member whom an OpenID provider vouches for. Finds the member by the provider's subject or, the first
 * time, by the verified address. An unknown address needs an invitation, a group with a role, or a default role.
 */
export async function signInByIdentity(
  { db, publicUrl, rules }: SignInTools & { rules: OidcSettings },
  c: Context,
  { timeZone = null, ...identity }: OidcIdentity & { timeZone?: string | null },
): Promise<SsoRefusal | undefined> {
  const judged = judgeIdentity(identity, rules);
  if ('refused' in judged) return judged.refused;
  const { email, groupRole } = judged;
  return await inTransaction(db, async (tx) => {
    const existing = await findMember(tx, c, { identity, email });
    if (existing === 'other_account') return existing;
    const orgId = await findOrganizationToJoin(tx, rules.organization);
    const invitations = await consumeInvitations(tx, email);
    const hasWayIn = invitations.length > 0 || (orgId && (groupRole ?? rules.role));
    if (!existing && !hasWayIn) return 'no_access';
    const member = existing ?? (await addMember(tx, { identity, email }));
    const actor = memberActor(member, c.get('requestId'));
    for (const link of invitations) await joinByInvitation(tx, { link, member, actor, timeZone });
    if (orgId && !invitations.some((link) => link.orgId === orgId)) {
      const isNewcomer = existing === undefined;
      await followGroups(tx, { orgId, member, actor, timeZone, groupRole, isNewcomer, rules });
    }
    await startMemberSession(tx, c, { publicUrl, member, by: 'sso' });
    return undefined;
  });
}

export async function proveByIdentity(db: Db, member: SignedInMember, identity: OidcIdentity) {
  const linked = await findMemberBySubject(db, identity);
  // Trust a provider that sends no auth_time: the request demanded a fresh sign-in.
  const askedAt = identity.authenticatedAt?.getTime() ?? Date.now();
  if (linked?.id !== member.id || Date.now() - askedAt >= freshMs) return false;
  await renewProof(db, member.sessionId);
  return true;
}

const freshMs = 5 * 60 * 1000;

type VerifiedIdentity = { identity: OidcIdentity; email: string };

/** Links a known address once. Another person who gets the address at the provider later does not get the account. */
async function findMember(tx: Sql, c: Context, { identity, email }: VerifiedIdentity) {
  const linked = await findMemberBySubject(tx, identity);
  if (linked) return linked;
  const member = await lockMemberByEmail(tx, email);
  if (!member) return undefined;
  if (member.ssoIssuer === identity.issuer) return 'other_account' as const;
  await saveSubject(tx, member.id, identity);
  // Somebody else may have created the account with this address.
  const hadProofs = !member.isProved && (await endProofs(tx, member.id));
  await markEmailProved(tx, member.id);
  await recordAccountAct(tx, {
    memberId: member.id,
    actor: memberActor(member, c.get('requestId')),
    act: 'member.sso_linked',
    details: hadProofs ? { removed: ['password and passkeys'] } : {},
  });
  return member;
}

/** Removes all credentials of an account whose address was never verified. Returns false if there were none. */
async function endProofs(tx: Sql, memberId: string) {
  const passkeys = await tx`delete from passkeys where member_id = ${memberId}`;
  await tx`delete from recovery_codes where member_id = ${memberId}`;
  const { count } = await tx`
    update members
    set password_hash = null, totp_secret = null, totp_since = null, totp_step = null
    where id = ${memberId} and num_nonnulls(password_hash, totp_secret) > 0`;
  await deleteMemberLinks(tx, memberId);
  await deleteSessions(tx, memberId);
  return passkeys.count + count > 0;
}

async function addMember(tx: Sql, { identity, email }: VerifiedIdentity): Promise<MemberName> {
  const name = oneLine(identity.name ?? '').slice(0, maxName) || email.split('@')[0]!;
  const member = await insertMember(tx, { email, name, passwordHash: null, isOperator: false });
  if (!member) {
    // Two windows of the same person race.
    const text = 'This account was just created in another window. Sign in again.';
    throw new Refusal('conflict', text, { code: 'made_at_once' });
  }
  await saveSubject(tx, member.id, identity);
  await markEmailProved(tx, member.id);
  return member;
}

type FollowGroups = Omit<RoleFacts, 'current'> & {
  orgId: string;
  member: { id: string };
  actor: Actor;
  timeZone?: string | null;
  rules: IdentityRules;
};

/** Applies the provider's groups to the member's role, except to the last owner. */
export async function followGroups(
  tx: Sql,
  { orgId, member, actor, timeZone = null, rules, ...groups }: FollowGroups,
) {
  await lockOrganization(tx, orgId);
  const [current = null] = await tx<GroupMembership[]>`
    select role, group_role as "groupRole"
    from memberships
    where org_id = ${orgId} and member_id = ${member.id}`;
  const change = roleChange({ current, ...groups }, rules);
  if (!change) return;
  if (current?.role === 'owner' && (await countOwners(tx, orgId)) === 1) return;
  const act = { orgId, actor, target: { kind: 'member', id: member.id } };
  if (change === 'leave') {
    await deleteRole(tx, orgId, member.id);
    await recordAct(tx, { ...act, act: 'member.removed', details: { by: 'groups' } });
    return;
  }
  if (change.role === 'owner') await adoptTimeZone(tx, { orgId, actor, timeZone });
  await saveRole(tx, { orgId, memberId: member.id, role: change.role });
  await tx`
    update memberships
    set group_role = ${change.groupRole}
    where org_id = ${orgId} and member_id = ${member.id}`;
  await recordAct(tx, {
    ...act,
    act: current ? 'member.role_changed' : 'member.joined',
    details: { by: change.groupRole ? 'groups' : 'sso', role: change.role },
  });
}

type LinkedMember = MemberName & {
  ssoIssuer: string | null;
  isProved: boolean;
};

const fields = (sql: Sql) => sql`
  id, name, email, sso_issuer as "ssoIssuer",
  email_proved_at is not null as "isProved"`;

async function findMemberBySubject(sql: Sql, { issuer, subject }: OidcIdentity) {
  const [row] = await sql<LinkedMember[]>`
    select ${fields(sql)} from members where sso_issuer = ${issuer} and sso_subject = ${subject}`;
  return row;
}

/** Locks the row, so that two subjects with one address cannot both be linked to it. */
async function lockMemberByEmail(sql: Sql, email: string): Promise<LinkedMember | undefined> {
  const [row] = await sql<LinkedMember[]>`
    select ${fields(sql)} from members where email_key = lower(${email}) for no key update`;
  return row;
}

async function saveSubject(sql: Sql, memberId: string, { issuer, subject }: OidcIdentity) {
  await sql`
    update members
    set sso_issuer = ${issuer}, sso_subject = ${subject}
    where id = ${memberId}`;
}

/** Finds the configured organization by id or slug. Without a setting, returns the only organization there is. */
export async function findOrganizationToJoin(sql: Sql, idOrSlug: string | null) {
  const rows = await sql<{ id: string }[]>`
    select id
    from organizations
    where ${idOrSlug}::text is null or id::text = lower(${idOrSlug}) or slug = lower(${idOrSlug})
    limit 2`;
  return rows.length === 1 ? rows[0]!.id : undefined;
}

export type IdentityRules = {
  domains: readonly string[];
  role: Role | null;
  groups: readonly OidcGroup[];
};

type RefusedIdentity = 'no_email' | 'unverified' | 'domain';

/** Returns the verified address and the highest role of its groups, or why this identity may not sign in. */
export function judgeIdentity(
  { email, isEmailVerified, groups }: Pick<OidcIdentity, 'email' | 'isEmailVerified' | 'groups'>,
  rules: IdentityRules,
): { email: string; groupRole: Role | null } | { refused: RefusedIdentity } {
  const address = mailableAddress(email ?? '');
  if (!email || !address) return { refused: 'no_email' };
  if (!isEmailVerified) return { refused: 'unverified' };
  const domain = address.slice(address.lastIndexOf('@') + 1);
  if (rules.domains.length > 0 && !rules.domains.includes(domain)) return { refused: 'domain' };
  const roles = rules.groups.filter(({ group }) => groups.includes(group)).map(({ role }) => role);
  const [groupRole = null] = roles.sort((a, b) => ranks[b] - ranks[a]);
  return { email: normalizeEmail(email) ?? address, groupRole };
}

export type GroupMembership = { role: Role; groupRole: Role | null };

type RoleFacts = {
  current: GroupMembership | null;
  groupRole: Role | null;
  isNewcomer: boolean;
};

/**
 * Decides how a sign-in changes a member's role. Groups only change roles that groups gave. The default role is for new
 * accounts only, so that it does not bring back a removed member.
 */
export function roleChange(
  { current, groupRole, isNewcomer }: RoleFacts,
  rules: IdentityRules,
): GroupMembership | 'leave' | undefined {
  if (!current) {
    if (groupRole) return { role: groupRole, groupRole };
    return isNewcomer && rules.role ? { role: rules.role, groupRole: null } : undefined;
  }
  const isManaged = rules.groups.length > 0 && current.groupRole === current.role;
  if (!isManaged) return undefined;
  const role = groupRole ?? rules.role;
  if (!role) return 'leave';
  return role === current.role ? undefined : { role, groupRole: role };
}
