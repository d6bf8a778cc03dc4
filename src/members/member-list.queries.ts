import type { Sql } from '../lib/db/db.ts';

export type MemberOfDeployment = {
  id: string;
  name: string;
  email: string;
  is_operator: boolean;
  organizations: number;
  last_used_at: Date | null;
  created_at: Date;
};

/** All members of the deployment, by address. */
export async function listAllMembers(sql: Sql): Promise<MemberOfDeployment[]> {
  return await sql<MemberOfDeployment[]>`
    -- all organizations
    select m.id, m.name, m.email, m.is_operator,
           (select count(*)::int from memberships where member_id = m.id) as organizations,
           (select max(used_at) from sessions where member_id = m.id) as last_used_at, m.created_at
    from members m
    order by m.email_key`;
}
