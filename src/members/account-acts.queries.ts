import type { Sql } from '../lib/db/db.ts';

export async function listOrganizationIds(sql: Sql, memberId: string): Promise<string[]> {
  const rows = await sql<{ org_id: string }[]>`
    -- all organizations
    select org_id from memberships where member_id = ${memberId} order by org_id`;
  return rows.map(({ org_id }) => org_id);
}
