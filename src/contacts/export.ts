import { exportReads, type ReplicaTools } from '../keys/replica-reads.ts';
import { csvLine } from '../lib/export/csv-line.ts';
import { rowsOfRange } from '../lib/export/range.cte.ts';
import { type FileText, readAhead } from '../lib/export/read-ahead.ts';
import type { Position } from '../lib/paging/page.ts';
import {
  type ContactFile,
  divideContacts,
  exportColumns,
  readContactRange,
} from './export.queries.ts';

/**
 * All contacts of an organization or a survey, newest first. Two ranges are asked for at a time, and read as the
 * organization has its turns. No connection is held while the reader takes what was read.
 */
export async function* exportContacts(
  tools: ReplicaTools,
  orgId: string,
  file: ContactFile,
): AsyncGenerator<FileText> {
  const read = exportReads(tools, orgId);
  if (file.format === 'csv') yield csvLine(exportColumns);
  yield* readAhead<Position>({
    read: (range, reader) =>
      read(reader, (sql) => readContactRange(sql, orgId, { ...range, file })),
    divide: (after, many, reader) =>
      read(reader, (sql) => divideContacts(sql, orgId, { file, after, many, rows: rowsOfRange })),
  });
}
