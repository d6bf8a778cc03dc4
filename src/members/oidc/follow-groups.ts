import type { Actor } from '../../audit/actor.ts';
import { recordAct } from '../../audit/record.ts';
import type { Sql } from '../../lib/db/db.ts';
import type { Role } from '../../sessions/session.ts';
import { countOwners, deleteRole, lockRoles, saveRole } from '../roles.queries.ts';
import { type IdentityRules, roleChange } from './identity.rules.ts';
import { findGroupMembership, saveGroupRole } from './queries.ts';

export type FollowGroups = {
  orgId: string;
  member: { id: string };
  actor: Actor;
  groupRole: Role | null;
  isNewcomer: boolean;
  rules: IdentityRules;
};

/** Gives a member the role that the groups of the provider mean today. The last owner keeps its own. */
export async function followGroups(
  tx: Sql,
  { orgId, member, actor, rules, ...given }: FollowGroups,
) {
  await lockRoles(tx, orgId);
  const current = (await findGroupMembership(tx, orgId, member.id)) ?? null;
  const change = roleChange({ current, ...given }, rules);
  if (change.change === 'none') return;
  if (current?.role === 'owner' && (await countOwners(tx, orgId)) === 1) return;
  const act = { orgId, actor, target: { kind: 'member', id: member.id } };
  if (change.change === 'leave') {
    await deleteRole(tx, orgId, member.id);
    await recordAct(tx, { ...act, act: 'member.removed', details: { by: 'groups' } });
    return;
  }
  const place = { orgId, memberId: member.id };
  await saveRole(tx, { ...place, role: change.role });
  await saveGroupRole(tx, place, change.groupRole);
  await recordAct(tx, {
    ...act,
    act: current ? 'member.role_changed' : 'member.joined',
    details: { by: change.groupRole ? 'groups' : 'sso', role: change.role },
  });
}
