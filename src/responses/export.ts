import { exportReads, type ReplicaTools } from '../keys/replica-reads.ts';
import type { ExportFormat } from '../lib/export/answer.ts';
import { csvLine } from '../lib/export/csv-line.ts';
import { rowsOfRange } from '../lib/export/range.cte.ts';
import { type FileText, readAhead } from '../lib/export/read-ahead.ts';
import type { Position } from '../lib/paging/page.ts';
import { divideResponses, readRange } from './export.queries.ts';
import { exportColumns } from './export-lines.cte.ts';
import type { ResponseFilter } from './filter.cte.ts';

type ExportWish = { filter: ResponseFilter; format: ExportFormat };

/**
 * All responses that a filter leaves, newest first. Two ranges are asked for at a time, and read as the organization has
 * its turns. No connection is held while the reader takes what was read.
 */
export async function* exportResponses(
  tools: ReplicaTools,
  orgId: string,
  { filter, format }: ExportWish,
): AsyncGenerator<FileText> {
  const read = exportReads(tools, orgId);
  if (format === 'csv') yield csvLine(exportColumns);
  yield* readAhead<Position>({
    read: (range, reader) =>
      read(reader, (sql) => readRange(sql, orgId, { ...range, filter, format })),
    divide: (after, many, reader) =>
      read(reader, (sql) =>
        divideResponses(sql, orgId, { filter, after, many, rows: rowsOfRange }),
      ),
  });
}
