import type { OidcIdentity } from '../../lib/oidc/identity.ts';
import { mailableAddress, normalizeEmail } from '../../lib/smtp/address.ts';
import type { Role } from '../../sessions/session.ts';
import type { OidcGroup } from '../../settings/sign-in.ts';
import { ranks } from '../ranks.rules.ts';

export type IdentityRules = {
  domains: readonly string[];
  role: Role | null;
  groups: readonly OidcGroup[];
};

export type RefusedIdentity = 'no_email' | 'unverified' | 'domain';

/** The address that the provider vouches for, and the role of its groups; or why this identity may not come in. */
export function judgeIdentity(
  { email, isEmailVerified, groups }: Pick<OidcIdentity, 'email' | 'isEmailVerified' | 'groups'>,
  rules: IdentityRules,
): { email: string; groupRole: Role | null } | { refused: RefusedIdentity } {
  const address = mailableAddress(email ?? '');
  if (!email || !address) return { refused: 'no_email' };
  if (!isEmailVerified) return { refused: 'unverified' };
  const domain = address.slice(address.lastIndexOf('@') + 1);
  if (rules.domains.length > 0 && !rules.domains.includes(domain)) return { refused: 'domain' };
  return { email: normalizeEmail(email) ?? address, groupRole: highestRole(groups, rules.groups) };
}

/** Of several groups the one with the most rights counts. */
function highestRole(groups: readonly string[], mapped: readonly OidcGroup[]): Role | null {
  const roles = mapped.filter(({ group }) => groups.includes(group)).map(({ role }) => role);
  return roles.sort((a, b) => ranks[b] - ranks[a])[0] ?? null;
}

export type GroupMembership = { role: Role; groupRole: Role | null };

export type RoleChange =
  | { change: 'none' }
  | { change: 'join' | 'set'; role: Role; groupRole: Role | null }
  | { change: 'leave' };

type RoleOfGroups = {
  /** What the member has; null without membership. */
  current: GroupMembership | null;
  groupRole: Role | null;
  /** Whether the account was made by this sign-in. */
  isNewcomer: boolean;
};

/**
 * What a sign-in changes about a member's role. Groups rule over what groups gave; a role that an owner or an
 * invitation gave stays. The role of newcomers is for new accounts: a removed member does not return by it.
 */
export function roleChange(
  { current, groupRole, isNewcomer }: RoleOfGroups,
  rules: IdentityRules,
): RoleChange {
  if (!current) {
    if (groupRole) return { change: 'join', role: groupRole, groupRole };
    if (isNewcomer && rules.role) return { change: 'join', role: rules.role, groupRole: null };
    return { change: 'none' };
  }
  const follows = rules.groups.length > 0 && current.groupRole === current.role;
  if (!follows) return { change: 'none' };
  const role = groupRole ?? rules.role;
  if (!role) return { change: 'leave' };
  return role === current.role ? { change: 'none' } : { change: 'set', role, groupRole: role };
}
