import { type Act, type Actor, type AuditDetail, recordAct } from '../audit/acts.ts';
import type { Sql } from '../lib/db/db.ts';

type AccountAct = {
  memberId: string;
  actor: Actor;
  act: Act;
  details?: Readonly<Record<string, AuditDetail>>;
};

/** Records what happens to an account where its owners look for it: in each organization of the member. */
export async function recordAccountAct(tx: Sql, { memberId, ...act }: AccountAct) {
  const organizations = await listOrganizationIds(tx, memberId);
  const target = { kind: 'member', id: memberId };
  for (const orgId of organizations.length > 0 ? organizations : [null]) {
    await recordAct(tx, { ...act, orgId, target });
  }
}

export async function listOrganizationIds(sql: Sql, memberId: string): Promise<string[]> {
  const rows = await sql<{ org_id: string }[]>`
    -- all organizations
    select org_id from memberships where member_id = ${memberId} order by org_id`;
  return rows.map(({ org_id }) => org_id);
}
