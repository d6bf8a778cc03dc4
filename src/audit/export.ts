import { type Db, deleteInBatches } from '../lib/db/db.ts';
import { csvLine } from '../lib/export/export.ts';
import { type Actor, recordAct, sentenceOf } from './acts.ts';
import {
  type AuditEventRow,
  type AuditFilter,
  deleteSurplusEvents,
  listCrowded,
  matching,
} from './queries.ts';

const atOnce = 1000;

const head = [
  'at',
  'actor_kind',
  'actor',
  'act',
  'sentence',
  'target',
  'target_id',
  'details',
  'request_id',
];

/** The position keeps the microseconds of the time, as text. */
type ExportedEvent = AuditEventRow & { position: string };

/** All events that match as CSV, newest first, a batch at a time: between two batches it holds no connection. */
export async function* exportEvents(db: Db, orgId: string, filter: AuditFilter) {
  yield csvLine(head);
  for (let after: ExportedEvent | undefined; ; ) {
    const events: ExportedEvent[] = await db<ExportedEvent[]>`
      -- organization: caller
      select id, iso(at) as at, at::text as position, act, actor_kind, actor, target, target_id, details, request_id
      from audit_events e
      where ${matching(db, orgId, filter)}
        ${after ? db`and (e.at, e.id) < (${after.position}::text::timestamptz, ${after.id}::uuid)` : db``}
      order by e.at desc, e.id desc
      limit ${atOnce}`;
    if (events.length > 0) yield events.map(lineOf).join('');
    if (events.length < atOnce) return;
    after = events.at(-1);
  }
}

const lineOf = (event: ExportedEvent) =>
  csvLine([
    event.at,
    event.actor_kind,
    event.actor,
    event.act,
    sentenceOf(event.act),
    event.target,
    event.target_id,
    JSON.stringify(event.details),
    event.request_id,
  ]);

type Exporter = { orgId: string; actor: Actor };

/** Records that a file of everything was begun: reading is no act, taking it all away is one. */
export const recordExport = (
  db: Db,
  { orgId, actor }: Exporter,
  act: 'responses.exported' | 'contacts.exported',
) => recordAct(db, { orgId, actor, act });

/** So many rows a statement, so that no transaction becomes long. */
const batch = 5000;
/** Per organization. A key that writes at its limit all day comes to so many in a week. */
const maxOfPrograms = 1_000_000;

/**
 * Deletes events of more than 400 days ago, and of organizations with very many the oldest of what keys and visitors
 * did: a program in a loop fills no disk. What members and operators did stays its whole time.
 */
export async function cleanUpAudit({ db, kept = maxOfPrograms }: { db: Db; kept?: number }) {
  await deleteInBatches(
    db,
    'audit_events',
    db`at < now() - interval '400 days' and act <> 'organization.deleted'`,
    batch,
  );
  for (const orgId of await listCrowded(db, kept)) {
    while ((await deleteSurplusEvents(db, orgId, { kept, limit: batch })) === batch);
  }
}
