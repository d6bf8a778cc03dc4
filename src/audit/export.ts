import type { Db } from '../lib/db/db.ts';
import { csvLine } from '../lib/export/csv-line.ts';
import { sentenceOf } from './acts.ts';
import { type AuditFilter, type EventPosition, type ExportedEvent, nextEvents } from './queries.ts';

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

/** All events that match as CSV, piece by piece: one batch is in memory, whatever the length. */
export async function* exportEvents(db: Db, orgId: string, filter: AuditFilter) {
  yield csvLine(head);
  let after: EventPosition | null = null;
  for (;;) {
    const events: ExportedEvent[] = await nextEvents(db, orgId, { filter, after, limit: atOnce });
    if (events.length > 0) yield events.map(lineOf).join('');
    if (events.length < atOnce) return;
    after = events.at(-1)!;
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
