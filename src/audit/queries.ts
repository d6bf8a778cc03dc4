import type { Db, Part, Sql } from '../lib/db/db.ts';
import { deleteRows } from '../lib/db/delete-in-batches.ts';
import { type Page, pagedJson } from '../lib/paging/page.ts';
import type { OrgId } from '../limits.ts';
import type { ActorKind } from './acts.ts';

export type AuditFilter = {
  from: Date | null;
  /** Exclusive. */
  to: Date | null;
  actor: ActorKind | null;
  act: string | null;
};

export type AuditEventRow = {
  id: string;
  at: string;
  act: string;
  actor_kind: ActorKind;
  actor: string;
  target: string | null;
  target_id: string | null;
  details: Record<string, unknown>;
  request_id: string | null;
};

export function listEvents(sql: Sql, orgId: OrgId, { filter, page }: ListedEvents): Part {
  return pagedJson(sql, page, {
    rows: sql`
      -- organization: caller
      (select e.*, e.at as created_at from audit_events e) events
      where ${matchFilter(sql, orgId, filter)}`,
    item: sql`
      cross join lateral (
        select p.id, iso(p.at) as at, p.act, p.actor_kind, p.actor, p.target, p.target_id, p.details,
               p.request_id
      ) item`,
  });
}

type ListedEvents = { filter: AuditFilter; page: Page };

export const matchFilter = (sql: Sql, orgId: OrgId, { from, to, actor, act }: AuditFilter) => sql`
  org_id = ${orgId}
  ${from ? sql`and at >= ${from}` : sql``}
  ${to ? sql`and at < ${to}` : sql``}
  ${actor ? sql`and actor_kind = ${actor}` : sql``}
  ${act ? sql`and act = ${act}` : sql``}`;

/** Replaces contact ids with the keyed hash of the address, so that events no longer identify the contact. */
export async function replaceContactTargets(
  sql: Sql,
  orgId: string,
  { contactIds, hash }: { contactIds: readonly string[]; hash: string },
): Promise<number> {
  const { count } = await sql`
    update audit_events
    set target_id = ${hash}
    where org_id = ${orgId} and target in ('contact', 'person') and target_id = any (${[...contactIds]}::text[])`;
  return count;
}

/** Deletes events after 400 days, except the receipts of deleted organizations. */
export const cleanUpAudit = ({ db }: { db: Db }) =>
  deleteRows(
    db,
    'audit_events',
    db`at < now() - interval '400 days' and act <> 'organization.deleted'`,
  );
