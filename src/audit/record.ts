import type { Sql } from '../lib/db/db.ts';
import type { Actor } from './actor.ts';
import type { Act } from './acts.ts';
import { insertEvent } from './queries.ts';

export type AuditedAct = {
  /** None for an act on the deployment itself. */
  orgId: string | null;
  actor: Actor;
  act: Act;
  target?: { kind: string; id: string } | undefined;
  /** What helps to understand the act later. Never an address, a comment or a secret. */
  details?: Readonly<Record<string, AuditDetail>> | undefined;
};

export type AuditDetail = string | number | boolean | null | readonly string[];

/** Records an act in the transaction of the act itself: there is never one without the other. */
export async function recordAct(tx: Sql, act: AuditedAct): Promise<void> {
  await insertEvent(tx, {
    org_id: act.orgId,
    act: act.act,
    actor_kind: act.actor.kind,
    actor_id: act.actor.id,
    actor: act.actor.name,
    target: act.target?.kind ?? null,
    target_id: act.target?.id ?? null,
    details: act.details ?? {},
    request_id: act.actor.requestId ?? null,
  });
}
