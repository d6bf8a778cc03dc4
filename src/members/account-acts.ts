import type { Actor } from '../audit/actor.ts';
import type { Act } from '../audit/acts.ts';
import { type AuditDetail, recordAct } from '../audit/record.ts';
import type { Sql } from '../lib/db/db.ts';
import { listOrganizationIds } from './account-acts.queries.ts';

export type AccountAct = {
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
