import { one, type Sql } from '../lib/db/db.ts';
import type { Role } from '../sessions/session.ts';

export type ListedMember = {
  id: string;
  name: string;
  email: string;
  role: Role;
  is_operator: boolean;
  has_second_step: boolean;
  last_used_at: Date | null;
  created_at: Date;
};

/** The members of an organization, by name. */
export async function listMembers(sql: Sql, orgId: string): Promise<ListedMember[]> {
  return await sql<ListedMember[]>`
    select m.id, m.name, m.email, s.role, m.is_operator, m.totp_since is not null as has_second_step,
           (select max(used_at) from sessions where member_id = m.id) as last_used_at, s.created_at
    from memberships s
    join members m on m.id = s.member_id
    where s.org_id = ${orgId}
    order by lower(m.name), m.email_key`;
}

export type MemberRole = { id: string; name: string; email: string; role: Role };

export async function findMemberRole(
  sql: Sql,
  orgId: string,
  memberId: string,
): Promise<MemberRole | undefined> {
  const [row] = await sql<MemberRole[]>`
    select m.id, m.name, m.email, s.role
    from memberships s
    join members m on m.id = s.member_id
    where s.org_id = ${orgId} and s.member_id = ${memberId}`;
  return row;
}

export async function findMemberRoleByEmail(
  sql: Sql,
  orgId: string,
  email: string,
): Promise<MemberRole | undefined> {
  const [row] = await sql<MemberRole[]>`
    select m.id, m.name, m.email, s.role
    from memberships s
    join members m on m.id = s.member_id
    where s.org_id = ${orgId} and m.email_key = lower(${email})`;
  return row;
}

/** Held until the transaction ends: changes of an organization's roles wait for each other. */
export async function lockRoles(sql: Sql, orgId: string): Promise<boolean> {
  const { count } = await sql`
    select from organizations where id = ${orgId} for no key update`;
  return count > 0;
}

export async function countOwners(sql: Sql, orgId: string): Promise<number> {
  return one(
    await sql<{ count: number }[]>`
      select count(*)::int as count from memberships where org_id = ${orgId} and role = 'owner'`,
  ).count;
}

export async function saveRole(
  sql: Sql,
  { orgId, memberId, role }: { orgId: string; memberId: string; role: Role },
) {
  await sql`
    insert into memberships (org_id, member_id, role)
    values (${orgId}, ${memberId}, ${role})
    on conflict (org_id, member_id) do update set role = excluded.role`;
}

export async function deleteRole(sql: Sql, orgId: string, memberId: string) {
  await sql`delete from memberships where org_id = ${orgId} and member_id = ${memberId}`;
}

export type CountedInvitations = { made: number; next_in_seconds: number };

/** How many invitations an organization made within 24 hours, and when the first of the newest so many counts no more. */
export async function countInvitations(
  sql: Sql,
  orgId: string,
  most: number,
): Promise<CountedInvitations> {
  return one(
    await sql<CountedInvitations[]>`
      select count(*)::int as made,
             greatest(1, ceil(extract(epoch from min(at) + interval '24 hours' - now())))::int as next_in_seconds
      from (
        select at
        from audit_events
        where org_id = ${orgId} and at > now() - interval '24 hours' and act = 'member.invited'
          and actor_kind <> 'command'
        order by at desc
        limit ${most}
      ) newest`,
  );
}
