import { type AuditedAct, recordAct } from '../audit/acts.ts';
import type { Sql } from '../lib/db/db.ts';

type AccountAct = Pick<AuditedAct, 'actor' | 'act' | 'details'> & { memberId: string };

/** Records what happens to an account where its owners look for it: in each organization of the member. */
export async function recordAccountAct(tx: Sql, { memberId, ...act }: AccountAct) {
  const organizations = await tx<{ id: string }[]>`
    -- all organizations
    select org_id as id from memberships where member_id = ${memberId} order by org_id`;
  const target = { kind: 'member', id: memberId };
  for (const { id: orgId } of organizations.length > 0 ? organizations : [{ id: null }]) {
    await recordAct(tx, { ...act, orgId, target });
  }
}
