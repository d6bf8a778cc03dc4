import { exportReads, type ReplicaTools } from '../keys/read.ts';
import type { Part, Sql } from '../lib/db/db.ts';
import {
  csvCell,
  csvLine,
  csvObject,
  type ExportFormat,
  endsOfRanges,
  type FileText,
  type ListRange,
  linesOfRange,
  pickRange,
  type RangesAfter,
  type RangeText,
  readAhead,
  readLines,
  rowsOfRange,
} from '../lib/export/export.ts';
import type { Position } from '../lib/paging/page.ts';
import type { OrgId } from '../limits.ts';

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

/** Contacts of an organization, or of a survey of it. */
type ContactFile = { surveyId: string | null; format: ExportFormat };

/** The lines of a range of the list, of a longer one those of its beginning. */
async function readContactRange(
  sql: Sql,
  orgId: OrgId,
  { file, ...range }: ListRange<Position> & { file: ContactFile },
): Promise<RangeText<Position>> {
  return await readLines(sql`
    with ${pickRange(sql, contactsOf(sql, orgId, file), range)},
    named as materialized (
      select id, ${file.format === 'csv' ? csvCell(sql, sql`name`) : sql`to_json(name)`} as name
      from surveys
      where org_id = ${orgId}
    )
    select ${linesOfRange(sql, contactLine(sql, file.format))}
    from picked p
    left join named on named.id = p.survey_id`);
}

type ContactDivision = RangesAfter & { file: ContactFile };

/** Where the ranges after a position end. */
const divideContacts = async (
  sql: Sql,
  orgId: OrgId,
  { file, ...ranges }: ContactDivision,
): Promise<Position[]> =>
  await sql<Position[]>`${endsOfRanges(sql, contactsOf(sql, orgId, file), ranges)}`;

const contactsOf = (sql: Sql, orgId: OrgId, { surveyId }: ContactFile) => sql`
  contacts
  where org_id = ${orgId} ${surveyId ? sql`and survey_id = ${surveyId}` : sql``}`;

/** The line of a contact `p` in a file, with its end, and the name of its survey in `named`. */
const contactLine = (sql: Sql, format: ExportFormat): Part =>
  format === 'csv'
    ? sql`concat(${csvCells(sql).reduce((line, cell) => sql`${line}, ',', ${cell}`)}, E'\\r\\n')`
    : jsonLine(sql);

/** The names of `csvCells`. */
const exportColumns = [
  'id',
  'created_at',
  'survey_id',
  'survey_name',
  'email',
  'name',
  'properties',
  'status',
  'failure_reason',
  'sent_at',
  'responded_at',
] as const;

const csvCells = (sql: Sql): Part[] => [
  sql`p.id`,
  sql`iso(p.created_at)`,
  sql`p.survey_id`,
  sql`named.name`,
  csvCell(sql, sql`p.email`),
  csvCell(sql, sql`p.name`),
  csvObject(sql, sql`p.properties`),
  sql`p.status`,
  csvCell(sql, sql`p.failure_reason`),
  sql`iso(p.sent_at)`,
  sql`iso(p.responded_at)`,
];

/** The members of an item of the list, and what a file has in addition. */
function jsonLine(sql: Sql): Part {
  const text = (value: Part) => sql`coalesce(to_json(${value}), 'null')`;
  return sql`concat(
    '{"id":"', p.id, '","email":', to_json(p.email), ',"name":', ${text(sql`p.name`)},
    ',"status":', to_json(p.status), ',"failure_reason":', ${text(sql`p.failure_reason`)},
    ',"sent_at":', ${text(sql`iso(p.sent_at)`)}, ',"responded_at":', ${text(sql`iso(p.responded_at)`)},
    ',"survey_id":"', p.survey_id, '","survey_name":', ${text(sql`named.name`)},
    ',"properties":', p.properties, ',"created_at":"', iso(p.created_at), E'"}\\n')`;
}
