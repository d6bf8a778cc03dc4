import { exportReads, type ReplicaTools } from '../keys/read.ts';
import type { Sql } from '../lib/db/db.ts';
import {
  csvLine,
  type ExportColumn,
  type ExportFormat,
  exportLine,
  type FileText,
  linesOfRange,
  pickRange,
  readLines,
  readRanges,
} from '../lib/export/export.ts';
import type { Position } from '../lib/paging/page.ts';
import type { OrgId } from '../limits.ts';

type ContactFile = { surveyId: string | null; format: ExportFormat };

/** Streams contacts, newest first. No connection is held while the client reads. */
export async function* exportContacts(
  tools: ReplicaTools,
  orgId: string,
  file: ContactFile,
): AsyncGenerator<FileText> {
  const read = exportReads(tools, orgId);
  if (file.format === 'csv') yield csvLine(columns(tools.db).map(({ name }) => name));
  yield* readRanges((after) => read((sql) => readContacts(sql, orgId, { ...file, after })));
}

const readContacts = (
  sql: Sql,
  orgId: OrgId,
  { surveyId, format, after }: ContactFile & { after: Position | null },
) =>
  readLines(sql`
    with ${pickRange(
      sql,
      sql`contacts where org_id = ${orgId} ${surveyId ? sql`and survey_id = ${surveyId}` : sql``}`,
      after,
    )}
    select ${linesOfRange(sql, exportLine(sql, format, columns(sql)))}
    from picked p
    left join surveys s on s.org_id = ${orgId} and s.id = p.survey_id`);

const columns = (sql: Sql): ExportColumn[] => [
  { name: 'id', value: sql`p.id` },
  { name: 'created_at', value: sql`iso(p.created_at)` },
  { name: 'survey_id', value: sql`p.survey_id` },
  { name: 'survey_name', value: sql`s.name`, csv: 'text' },
  { name: 'email', value: sql`p.email`, csv: 'text' },
  { name: 'name', value: sql`p.name`, csv: 'text' },
  { name: 'properties', value: sql`p.properties`, csv: 'object' },
  { name: 'status', value: sql`p.status` },
  { name: 'failure_reason', value: sql`p.failure_reason`, csv: 'text' },
  { name: 'sent_at', value: sql`iso(p.sent_at)` },
  { name: 'responded_at', value: sql`iso(p.responded_at)` },
  { name: 'round', value: sql`p.round` },
];
