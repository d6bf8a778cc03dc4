import type { Db } from '../lib/db/db.ts';
import { csvLine } from '../lib/export/export.ts';
import { type Actor, recordAct, sentenceOf } from './acts.ts';
import { type AuditEventRow, type AuditFilter, matchFilter } from './queries.ts';

const batchSize = 1000;

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
] as const;

/** `position` keeps the microseconds of the time, as text. */
type ExportedEvent = AuditEventRow & { position: string };

/** Matching events as CSV, newest first. Holds no connection between two batches. */
export async function* exportEvents(db: Db, orgId: string, filter: AuditFilter) {
  yield csvLine(head);
  for (let after: ExportedEvent | undefined; ; ) {
    const events: ExportedEvent[] = await db<ExportedEvent[]>`
      -- organization: caller
      select id, iso(at) as at, at::text as position, act, actor_kind, actor, target, target_id, details, request_id
      from audit_events e
      where ${matchFilter(db, orgId, filter)}
        ${after ? db`and (e.at, e.id) < (${after.position}::text::timestamptz, ${after.id}::uuid)` : db``}
      order by e.at desc, e.id desc
      limit ${batchSize}`;
    if (events.length > 0) yield events.map(lineOf).join('');
    if (events.length < batchSize) return;
    after = events.at(-1);
  }
}

function lineOf(event: ExportedEvent) {
  const sentence = sentenceOf(event.act);
  const cells = { ...event, sentence, details: JSON.stringify(event.details) };
  return csvLine(head.map((name) => cells[name]));
}

type Exporter = { orgId: string; actor: Actor };

/** Reading is not audited, but exporting is. */
export const recordExport = (
  db: Db,
  { orgId, actor }: Exporter,
  act: 'responses.exported' | 'contacts.exported' | 'people.exported',
) => recordAct(db, { orgId, actor, act });
