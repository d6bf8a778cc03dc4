import { one, type Sql } from '../lib/db/db.ts';
import { subscribeOwner } from '../notifications/choices.ts';
import type { Role } from '../sessions/session.ts';

export type MemberName = { id: string; name: string; email: string };

export type MemberCredentials = MemberName & {
  passwordHash: string | null;
  /** Two-step verification is on: a password alone does not sign in. */
  hasCodes: boolean;
  isOperator: boolean;
};

const credentials = (sql: Sql) => sql`
  id, name, email, password_hash as "passwordHash", totp_since is not null as "hasCodes",
  is_operator as "isOperator"`;

export async function findCredentials(sql: Sql, email: string) {
  const [row] = await sql<MemberCredentials[]>`
    select ${credentials(sql)} from members where email_key = lower(${email})`;
  return row;
}

export async function findCredentialsById(sql: Sql, id: string) {
  const [row] = await sql<MemberCredentials[]>`
    select ${credentials(sql)} from members where id = ${id}`;
  return row;
}

/** Locks the password until the transaction ends. Returns false if it has changed since it was checked. */
export async function lockPassword(sql: Sql, { id, passwordHash }: MemberCredentials) {
  const { count } = await sql`
    select from members where id = ${id} and password_hash = ${passwordHash} for share`;
  return count > 0;
}

export async function hasMembers(sql: Sql): Promise<boolean> {
  return (await sql`select from members limit 1`).length > 0;
}

/** Returns undefined if the address already has an account. */
export async function insertMember(
  sql: Sql,
  { email, name, passwordHash, isOperator }: Omit<MemberCredentials, 'id' | 'hasCodes'>,
) {
  const row = { email, name, password_hash: passwordHash, is_operator: isOperator };
  const [member] = await sql<MemberName[]>`
    insert into members ${sql(row)}
    on conflict on constraint members_have_distinct_addresses do nothing
    returning id, name, email`;
  return member;
}

export async function setPassword(sql: Sql, memberId: string, passwordHash: string) {
  await sql`update members set password_hash = ${passwordHash} where id = ${memberId}`;
}

/** Serializes changes of a member's credentials until the transaction ends. */
export async function lockMember(sql: Sql, id: string) {
  await sql`select from members where id = ${id} for no key update`;
}

export async function markEmailProved(sql: Sql, memberId: string) {
  await sql`
    update members
    set email_proved_at = now()
    where id = ${memberId} and email_proved_at is null`;
}

export async function setOperator(sql: Sql, memberId: string, isOperator: boolean) {
  const { count } = await sql`
    update members
    set is_operator = ${isOperator}
    where id = ${memberId} and is_operator <> ${isOperator}`;
  return count > 0;
}

type MemberOfDeployment = Omit<ListedMember, 'role' | 'has_second_step'> & {
  organizations: number;
};

export async function listAllMembers(sql: Sql) {
  return await sql<MemberOfDeployment[]>`
    -- all organizations
    select m.id, m.name, m.email, m.is_operator,
           (select count(*)::int from memberships where member_id = m.id) as organizations,
           (select max(used_at) from sessions where member_id = m.id) as last_used_at, m.created_at
    from members m
    order by m.email_key`;
}

type LinkKind = 'welcome' | 'invitation' | 'reset' | 'email';

export type LiveLink = {
  id: string;
  email: string | null;
  memberId: string | null;
  orgId: string | null;
  organization: string | null;
  role: Role | null;
  isOperator: boolean;
  /** The link was only sent to the address, so using it proves the address. */
  provesEmail: boolean;
};

type NewLink = { tokenHash: Buffer; kind: LinkKind; validFor: string } & Partial<LiveLink>;

export async function insertLink(sql: Sql, link: NewLink): Promise<string> {
  return one(
    await sql<{ id: string }[]>`
      insert into member_links (token_hash, kind, email, member_id, org_id, role, is_operator, proves_email,
                                expires_at)
      values (${link.tokenHash}, ${link.kind}, ${link.email ?? null}, ${link.memberId ?? null},
              ${link.orgId ?? null}, ${link.role ?? null}, ${link.isOperator ?? false},
              ${link.provesEmail ?? false}, now() + ${link.validFor}::interval)
      returning id`,
  ).id;
}

const isLive = (sql: Sql) => sql`used_at is null and expires_at > now()`;

const linkFields = (sql: Sql) => sql`
  l.id, l.email, l.member_id as "memberId", l.org_id as "orgId", l.role, l.is_operator as "isOperator",
  l.proves_email as "provesEmail",
  (select name from organizations where id = l.org_id) as organization`;

/** Finds a link by the hash of its token, or by its id. */
export async function findLink(sql: Sql, kind: LinkKind, name: Buffer | string) {
  const [link] = await sql<LiveLink[]>`
    -- all organizations
    select ${linkFields(sql)}
    from member_links l
    where ${typeof name === 'string' ? sql`id` : sql`token_hash`} = ${name} and kind = ${kind}
      and ${isLive(sql)}`;
  return link;
}

/** Marks a link as used. Only one of two concurrent requests gets it. */
export async function consumeLink(sql: Sql, kind: LinkKind, tokenHash: Buffer) {
  const [link] = await sql<LiveLink[]>`
    -- all organizations
    update member_links l
    set used_at = now()
    where token_hash = ${tokenHash} and kind = ${kind} and ${isLive(sql)}
    returning ${linkFields(sql)}`;
  return link;
}

export async function consumeInvitations(sql: Sql, email: string) {
  return await sql<LiveLink[]>`
    -- all organizations
    update member_links l
    set used_at = now()
    where kind = 'invitation' and lower(email) = lower(${email}) and ${isLive(sql)}
    returning ${linkFields(sql)}`;
}

/** Ends the links of a member that set a new password or email, or only one kind of them. */
export async function deleteMemberLinks(sql: Sql, memberId: string, kind: LinkKind | null = null) {
  await sql`
    -- all organizations
    delete from member_links
    where member_id = ${memberId} and (${kind}::text is null or kind = ${kind})`;
}

type PendingInvitation = {
  id: string;
  email: string;
  role: Role;
  expires_at: Date;
};

export async function listInvitations(sql: Sql, orgId: string) {
  return await sql<PendingInvitation[]>`
    select id, email, role, expires_at
    from member_links
    where org_id = ${orgId} and kind = 'invitation' and ${isLive(sql)}
    order by created_at desc, id desc`;
}

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

export async function listMembers(sql: Sql, orgId: string) {
  return await sql<ListedMember[]>`
    select m.id, m.name, m.email, s.role, m.is_operator, m.totp_since is not null as has_second_step,
           (select max(used_at) from sessions where member_id = m.id) as last_used_at, s.created_at
    from memberships s
    join members m on m.id = s.member_id
    where s.org_id = ${orgId}
    order by lower(m.name), m.email_key`;
}

export type MemberRole = MemberName & { role: Role };

const memberRoles = (sql: Sql, orgId: string) => sql`
  select m.id, m.name, m.email, s.role
  from memberships s
  join members m on m.id = s.member_id
  where s.org_id = ${orgId}`;

export async function findMemberRole(sql: Sql, orgId: string, memberId: string) {
  const [row] = await sql<MemberRole[]>`${memberRoles(sql, orgId)} and m.id = ${memberId}`;
  return row;
}

export async function findMemberRoleByEmail(sql: Sql, orgId: string, email: string) {
  const [row] = await sql<MemberRole[]>`
    ${memberRoles(sql, orgId)} and m.email_key = lower(${email})`;
  return row;
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
  if (role === 'owner') await subscribeOwner(sql, { orgId, memberId });
}

export async function deleteRole(sql: Sql, orgId: string, memberId: string) {
  await sql`delete from memberships where org_id = ${orgId} and member_id = ${memberId}`;
}

export const ranks: Readonly<Record<Role, number>> = { viewer: 1, editor: 2, owner: 3 };
