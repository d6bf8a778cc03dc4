import { randomUUID } from 'node:crypto';
import { one, type Sql } from '../../../src/lib/db/db.ts';
import { insertSession } from '../../../src/sessions/queries.ts';
import { hashToken, newToken, type Role } from '../../../src/sessions/session.ts';

export async function makeMember(sql: Sql, over: Record<string, unknown> = {}): Promise<string> {
  const member = { email: `${randomUUID()}@members.test`, name: 'Ann', ...over };
  return one(await sql<{ id: string }[]>`insert into members ${sql(member)} returning id`).id;
}

type SignInOptions = {
  /** The member's organization. None by default. */
  org?: string;
  role?: Role;
  operator?: boolean;
  /** An existing member, instead of a new one. */
  member?: string;
};

/** Signs a member in. Returns the browser's headers, with the cookie under its names for https and for http. */
export async function signIn(
  sql: Sql,
  { org, role = 'owner', operator = false, member }: SignInOptions = {},
): Promise<{ Cookie: string }> {
  const memberId = member ?? (await makeMember(sql, { is_operator: operator }));
  if (org) await joinOrganization(sql, { org, member: memberId, role });
  const token = newToken();
  await insertSession(sql, {
    token_hash: hashToken(token),
    member_id: memberId,
    awaits_code: false,
    user_agent: 'Browser of the test',
    address: '192.0.2.1',
  });
  return { Cookie: `__Host-askback=${token}; askback_session=${token}` };
}

export async function joinOrganization(
  sql: Sql,
  { org, member, role }: { org: string; member: string; role: Role },
) {
  await sql`
    insert into memberships ${sql({ org_id: org, member_id: member, role })}
    on conflict (org_id, member_id) do update set role = excluded.role`;
}

/** The organization's slug, for the paths of its screens. */
export async function slugOfOrganization(sql: Sql, org: string): Promise<string> {
  return one(await sql<{ slug: string }[]>`select slug from organizations where id = ${org}`).slug;
}
