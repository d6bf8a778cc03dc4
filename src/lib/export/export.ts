import * as v from 'valibot';
import { one, type Part, type Sql } from '../db/db.ts';

// Answers that are a file of any length.

export const ExportFormat = v.pipe(
  v.optional(v.picklist(['csv', 'jsonl'], 'must be csv or jsonl'), 'csv'),
  v.description('comma-separated values for spreadsheets, or a JSON object a line'),
);
export type ExportFormat = v.InferOutput<typeof ExportFormat>;

export const exportTypes: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
};

export const csvDescription =
  'Columns of CSV are the fields, lists joined by `;` and objects as JSON. A text that a spreadsheet would run as a ' +
  "formula gets a ' before it.";

type ExportedFile = { name: string; parts: AsyncIterable<FileText> };

/** A file to be saved. Its parts are made as fast as the reader takes them, and no more once it is gone. */
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

// Lists of any length, newest first, read range by range.

export type FileText = string | Uint8Array;

/** The rows of a range as text; `last` is where the next range begins, if there may be more. */
export type RangeText<Position> = { text: FileText; last: Position | undefined };

/** Once the reader has gone, work that has not begun is of no use. */
export type ListReader = { isGone: () => boolean };

/** A list as text, in its order: one range is read while the one before it is on its way. */
export async function* readAhead<Position>(
  read: (after: Position | null, reader: ListReader) => Promise<RangeText<Position>>,
): AsyncGenerator<FileText> {
  let isGone = false;
  const reader = { isGone: () => isGone };
  try {
    let next: Promise<RangeText<Position>> | undefined = read(null, reader);
    while (next) {
      const { text, last }: RangeText<Position> = await next;
      next = last && read(last, reader);
      next?.catch(() => {}); // thrown when its turn comes
      if (text.length > 0) yield text;
    }
  } finally {
    isGone = true;
  }
}

/** The time keeps its microseconds, as text. */
type RowPosition = { at: string; id: string };

/** What the limits below say. */
const rowsOfRange = 4000;

/**
 * The CTEs `picked`, the rows of a table with its conditions after a position, and `last`, the last one of them.
 * A limit in the text lets Postgres plan once for all ranges.
 */
export const pickRange = (sql: Sql, source: Part, after: RowPosition | null): Part => sql`
  picked as materialized (
    select *
    from ${source} ${after ? sql`and (created_at, id) < (${after.at}::text::timestamptz, ${after.id}::uuid)` : sql``}
    order by created_at desc, id desc
    limit 4000
  ), last as (
    select created_at::text as at, id from picked order by created_at, id limit 1
  )`;

/** The columns that `readLines` reads, of picked rows `p`. The last row is found only for a range that may have more. */
export const linesOfRange = (sql: Sql, line: Part): Part => sql`
  coalesce(string_agg(${line}, '' order by p.created_at desc, p.id desc), '') as text,
  count(*)::int as rows,
  case when count(*) = 4000 then (select at from last) end as at,
  case when count(*) = 4000 then (select id from last) end as id`;

/** The lines stay the bytes that Postgres sends: to make a text of them and bytes again costs more than passing them on. */
export async function readLines(statement: Part): Promise<RangeText<RowPosition>> {
  const [text, rows, at, id] = one(await statement.raw()) as Buffer[];
  const last = Number(rows) === rowsOfRange ? { at: String(at), id: String(id) } : undefined;
  return { text: text!, last };
}

/** A column of a file: how its value is written in CSV, where not as it is. */
export type ExportColumn = { name: string; value: Part; csv?: 'text' | 'object' };

/** A row as one line of a file, with its end. Postgres makes it: to pass columns on costs more than all else of a file. */
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

// Writing CSV that spreadsheets open without running anything in it.

type Cell = string | number | boolean | null;

/** A line of CSV (RFC 4180) with its end. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(spell).join(',')}\r\n`;

function spell(cell: Cell): string {
  if (cell === null) return '';
  const text = typeof cell === 'string' ? harmless(cell) : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const harmless = (text: string) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

/** What `csvLine` makes of a text, as an expression; an empty cell is null. The text is read several times. */
export const csvCell = (sql: Sql, text: Part): Part => sql`
  case when ${text} ~ '[",\\r\\n]' then concat('"', case when ${isFormula(sql, text)} then '''' end, replace(${text}, '"', '""'), '"')
       when ${isFormula(sql, text)} then concat('''', ${text})
       else ${text} end`;

/** By its first character, one of = + - @, tab and carriage return. */
const isFormula = (sql: Sql, text: Part) => sql`ascii(${text}) in (61, 43, 45, 64, 9, 13)`;

/** The cell of a JSON object. With a member it has quotes, and none is read as a formula. */
export const csvObject = (sql: Sql, object: Part): Part => sql`
  case when ${object} = '{}' then '{}' else concat('"', replace(${object}::text, '"', '""'), '"') end`;
