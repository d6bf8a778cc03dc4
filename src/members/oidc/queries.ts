import type { Sql } from '../../lib/db/db.ts';
import type { Role } from '../../sessions/session.ts';
import type { MemberName } from '../queries.ts';
import type { GroupMembership } from './identity.rules.ts';

export type LinkedMember = MemberName & {
  ssoIssuer: string | null;
  ssoSubject: string | null;
  /** Whether the person has proved before that the address is theirs. */
  isProved: boolean;
};

const fields = (sql: Sql) => sql`
  id, name, email, sso_issuer as "ssoIssuer", sso_subject as "ssoSubject",
  email_proved_at is not null as "isProved"`;

type Subject = { issuer: string; subject: string };

export async function findMemberBySubject(
  sql: Sql,
  { issuer, subject }: Subject,
): Promise<LinkedMember | undefined> {
  const [row] = await sql<LinkedMember[]>`
    select ${fields(sql)} from members where sso_issuer = ${issuer} and sso_subject = ${subject}`;
  return row;
}

/** Locked until the transaction ends: two subjects with one address cannot both be linked to it. */
export async function lockMemberByEmail(
  sql: Sql,
  email: string,
): Promise<LinkedMember | undefined> {
  const [row] = await sql<LinkedMember[]>`
    select ${fields(sql)} from members where email_key = lower(${email}) for no key update`;
  return row;
}

export async function saveSubject(sql: Sql, memberId: string, { issuer, subject }: Subject) {
  await sql`
    update members
    set sso_issuer = ${issuer}, sso_subject = ${subject}
    where id = ${memberId}`;
}

/** Takes away all that the account could be entered with until now. Returns whether there was anything. */
export async function deleteProofs(sql: Sql, memberId: string): Promise<boolean> {
  const passkeys = await sql`delete from passkeys where member_id = ${memberId}`;
  await sql`delete from recovery_codes where member_id = ${memberId}`;
  const { count } = await sql`
    update members
    set password_hash = null, totp_secret = null, totp_since = null, totp_step = null
    where id = ${memberId} and num_nonnulls(password_hash, totp_secret) > 0`;
  return passkeys.count + count > 0;
}

/** Returns whether there was a link. */
export async function clearSubject(sql: Sql, memberId: string): Promise<boolean> {
  const { count } = await sql`
    update members
    set sso_issuer = null, sso_subject = null
    where id = ${memberId} and sso_subject is not null`;
  return count > 0;
}

/** By id or slug; without either the only organization there is. */
export async function findOrganizationToJoin(
  sql: Sql,
  wanted: string | null,
): Promise<string | undefined> {
  const rows = await sql<{ id: string }[]>`
    select id
    from organizations
    where ${wanted}::text is null or id::text = lower(${wanted}) or slug = lower(${wanted})
    limit 2`;
  return rows.length === 1 ? rows[0]!.id : undefined;
}

export async function findGroupMembership(
  sql: Sql,
  orgId: string,
  memberId: string,
): Promise<GroupMembership | undefined> {
  const [row] = await sql<GroupMembership[]>`
    select role, group_role as "groupRole"
    from memberships
    where org_id = ${orgId} and member_id = ${memberId}`;
  return row;
}

/** Notes that the role is the one that groups gave; null where they did not. */
export async function saveGroupRole(
  sql: Sql,
  { orgId, memberId }: { orgId: string; memberId: string },
  groupRole: Role | null,
) {
  await sql`
    update memberships
    set group_role = ${groupRole}
    where org_id = ${orgId} and member_id = ${memberId}`;
}
