import * as v from 'valibot';
import { one, type Part, type Sql } from '../db/db.ts';
import type { Position } from '../paging/page.ts';

export const ExportFormat = v.pipe(
  v.optional(v.picklist(['csv', 'jsonl'], 'must be csv or jsonl'), 'csv'),
  v.description('comma-separated values for spreadsheets, or one JSON object per line'),
);
export type ExportFormat = v.InferOutput<typeof ExportFormat>;

export const exportTypes: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
};

export const csvDescription =
  'The CSV columns are the fields. Lists are joined by `;` and objects are JSON. Text that a spreadsheet would run as ' +
  "a formula is prefixed with '.";

type ExportedFile = { name: string; parts: AsyncIterable<FileText> };

/** A download that is produced only as fast as the client reads it. */
export const exportResponse = (format: ExportFormat, { name, parts }: ExportedFile): Response =>
  new Response(ReadableStream.from(encodeParts(parts)), {
    headers: {
      'Content-Type': exportTypes[format],
      'Content-Disposition': `attachment; filename="${name}.${format}"`,
      'Cache-Control': 'no-store',
    },
  });

async function* encodeParts(parts: AsyncIterable<FileText>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const part of parts) yield typeof part === 'string' ? encoder.encode(part) : part;
}

export type FileText = string | Uint8Array;

/** `last` is the position after which the next range begins, if there may be more. */
export type RangeText = { text: FileText; last: Position | undefined };

/** Reads a list range by range, as fast as the client takes it. */
export async function* readRanges(
  read: (after: Position | null) => Promise<RangeText>,
): AsyncGenerator<FileText> {
  let after: Position | null | undefined = null;
  while (after !== undefined) {
    const { text, last }: RangeText = await read(after);
    if (text.length > 0) yield text;
    after = last;
  }
}

/** Also written in the statements below, because a literal limit lets Postgres reuse its plan. */
const rowsOfRange = 4000;

/** Two CTEs: `picked` has the rows after a position, and `last` has the position of its last row. */
export const pickRange = (sql: Sql, source: Part, after: Position | null): Part => sql`
  picked as materialized (
    select *
    from ${source} ${after ? sql`and (created_at, id) < (${after.at}::text::timestamptz, ${after.id}::uuid)` : sql``}
    order by created_at desc, id desc
    limit 4000
  ), last as (
    select created_at::text as at, id from picked order by created_at, id limit 1
  )`;

/** The columns for `readLines`, from rows `p` of `picked`. */
export const linesOfRange = (sql: Sql, line: Part): Part => sql`
  coalesce(string_agg(${line}, '' order by p.created_at desc, p.id desc), '') as text,
  count(*)::int as rows,
  case when count(*) = 4000 then (select at from last) end as at,
  case when count(*) = 4000 then (select id from last) end as id`;

/** Passes on the bytes of Postgres, because decoding and encoding them would cost more than the rest. */
export async function readLines(statement: Part): Promise<RangeText> {
  const [text, rows, at, id] = one(await statement.raw()) as Buffer[];
  const last = Number(rows) === rowsOfRange ? { at: String(at), id: String(id) } : undefined;
  return { text: text!, last };
}

/** `csv` says how to write a value that needs quoting. */
export type ExportColumn = { name: string; value: Part; csv?: 'text' | 'object' };

/** A row as one line. Postgres builds it, because transferring columns would cost more than everything else. */
export function exportLine(sql: Sql, format: ExportFormat, columns: readonly ExportColumn[]): Part {
  const parts = columns.map(({ name, value, csv }) => {
    if (format === 'jsonl') {
      return sql`${`${JSON.stringify(name)}:`}::text, coalesce(to_json(${value}), 'null')`;
    }
    if (csv === 'object') return csvObject(sql, value);
    return csv === 'text' ? csvCell(sql, value) : value;
  });
  const cells = parts.reduce((line, part) => sql`${line}, ',', ${part}`);
  return format === 'csv' ? sql`concat(${cells}, E'\\r\\n')` : sql`concat('{', ${cells}, E'}\\n')`;
}

type Cell = string | number | boolean | null;

/** A line of CSV (RFC 4180) that spreadsheets do not run as formulas. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(formatCell).join(',')}\r\n`;

function formatCell(cell: Cell): string {
  if (cell === null) return '';
  const text = typeof cell === 'string' ? escapeFormula(cell) : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const escapeFormula = (text: string) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

/** `csvLine` for one text, in SQL. An empty cell is null. The text is evaluated several times. */
export const csvCell = (sql: Sql, text: Part): Part => sql`
  case when ${text} ~ '[",\\r\\n]' then concat('"', case when ${isFormula(sql, text)} then '''' end, replace(${text}, '"', '""'), '"')
       when ${isFormula(sql, text)} then concat('''', ${text})
       else ${text} end`;

/** Begins with = + - @, tab or carriage return. */
const isFormula = (sql: Sql, text: Part) => sql`ascii(${text}) in (61, 43, 45, 64, 9, 13)`;

/** The cell of a JSON object, which never looks like a formula. */
export const csvObject = (sql: Sql, object: Part): Part => sql`
  case when ${object} = '{}' then '{}' else concat('"', replace(${object}::text, '"', '""'), '"') end`;
