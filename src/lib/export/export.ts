import * as v from 'valibot';
import { one, type Part, type Sql } from '../db/db.ts';

/** A CSV file as the answer to a request, piece by piece as it is made. */
export const csvAnswer = (lines: AsyncIterable<string>, name: string): Response =>
  new Response(ReadableStream.from(lines).pipeThrough(new TextEncoderStream()), {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}"`,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    },
  });

// Answers that are a file of any length.

const exportFormats = ['csv', 'jsonl'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export const ExportFormat = v.pipe(
  v.optional(v.picklist(exportFormats, 'must be csv or jsonl'), 'csv'),
  v.description('comma-separated values for spreadsheets, or a JSON object a line'),
);

export const exportTypes: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
};

/** For descriptions of what makes such files. */
export const aboutCsv =
  'Columns of CSV are the fields, lists joined by `;` and objects as JSON. A text that a spreadsheet would run as a ' +
  "formula gets a ' before it.";

type ExportedFile = { name: string; parts: AsyncGenerator<FileText> };

/** A file to be saved. Its parts are made as fast as the reader takes them, and no more once it is gone. */
export const answerExport = (format: ExportFormat, { name, parts }: ExportedFile): Response =>
  new Response(pulled(parts), {
    headers: {
      'Content-Type': exportTypes[format],
      'Content-Disposition': `attachment; filename="${name}.${format}"`,
      'Cache-Control': 'no-store',
    },
  });

function pulled(parts: AsyncGenerator<FileText>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
      },
      async cancel() {
        await parts.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

// The ranges of a list, newest first, that `readAhead` reads: what all statements on them have in common.

/** The time keeps its microseconds, as text. */
type RowPosition = { at: string; id: string };

/** What the limit below says. */
const longestRange = 4000;
/** As many may come into a range before it is read; of more, it is read in several steps. */
export const rowsOfRange = longestRange / 2;

/**
 * The CTEs `picked`, the rows of a range of a table with its conditions, of a longer one those of its beginning, and
 * `last`, its last one. A limit in the text lets Postgres plan once for all ranges.
 */
export const pickRange = (
  sql: Sql,
  source: Part,
  { after, until }: ListRange<RowPosition>,
): Part => sql`
  picked as materialized (
    select *
    from ${source} ${later(sql, after)}
      ${until ? sql`and (created_at, id) >= ${place(sql, until)}` : sql``}
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

/** The lines go on as the bytes that Postgres sends: to make a text of them and bytes again costs more than passing them on. */
export async function readLines(statement: Part): Promise<RangeText<RowPosition>> {
  const [text, rows, at, id] = one(await statement.raw()) as Buffer[];
  const last = Number(rows) === longestRange && { at: String(at), id: String(id) };
  return { text: text!, last: last || undefined };
}

export type RangesAfter = { after: RowPosition | null; many: number; rows: number };

/** A query of the positions at which the next ranges of so many rows end: as many as are asked for, or as the list has. */
export const endsOfRanges = (
  sql: Sql,
  source: Part,
  { after, many, rows }: RangesAfter,
): Part => sql`
  select created_at::text as at, id
  from (
    select created_at, id, row_number() over (order by created_at desc, id desc) as n
    from (
      select created_at, id
      from ${source} ${later(sql, after)}
      order by created_at desc, id desc
      limit ${many * rows}::int
    ) next
  ) numbered
  where n % ${rows}::int = 0
  order by n`;

const later = (sql: Sql, after: RowPosition | null) =>
  after ? sql`and (created_at, id) < ${place(sql, after)}` : sql``;

const place = (sql: Sql, { at, id }: RowPosition) => sql`(${at}::text::timestamptz, ${id}::uuid)`;

/** The rows of a list after a position, up to and with another one; null is without an end on that side. */
export type ListRange<Position> = { after: Position | null; until: Position | null };

/** Text, or the bytes of one. */
export type FileText = string | Uint8Array;

/** The rows of a range as text. Of a range that has become too long only its beginning, with the position of its end. */
export type RangeText<Position> = { text: FileText; last: Position | undefined };

type DividedList<Position> = {
  read: (range: ListRange<Position>, reader: ListReader) => Promise<RangeText<Position>>;
  /** The positions at which the next `many` ranges after one end; fewer when the list has no more. */
  divide: (after: Position, many: number, reader: ListReader) => Promise<Position[]>;
};

/** Where it has gone, work that has not begun is of no use. */
export type ListReader = { isGone: () => boolean };

/** Of a list, in addition to the range that the reader takes: the database makes one while another is on its way. */
const rangesUnderWay = 2;
const rangesPerDivision = 16;

/**
 * A list of any length as text, in its order. Its ranges are known before they are read, so that several can be read at
 * the same time; at most `rangesUnderWay` are, however slow the reader is. A list that fits one range costs one read.
 */
export async function* readAhead<Position>(list: DividedList<Position>): AsyncGenerator<FileText> {
  let isGone = false;
  const reader = { isGone: () => isGone };
  try {
    const first = await list.read({ after: null, until: null }, reader);
    const ranges = first.last && rangesAfter(list, first.last, reader);
    const next = ranges && (() => unwatched(readNext(list, ranges, reader)));
    const underWay = next ? Array.from({ length: rangesUnderWay }, next) : [];
    if (first.text.length > 0) yield first.text;
    for (let read = await underWay.shift(); read; read = await underWay.shift()) {
      underWay.push(next!());
      yield* wholeRange(list, read, reader);
    }
  } finally {
    isGone = true;
  }
}

type ReadRange<Position> = RangeText<Position> & Pick<ListRange<Position>, 'until'>;

/** All ranges after a position, in order. Where the next ones end is found out while these are read. */
async function* rangesAfter<Position>(
  { divide }: DividedList<Position>,
  position: Position,
  reader: ListReader,
): AsyncGenerator<ListRange<Position>> {
  const endsAfter = (end: Position) => unwatched(divide(end, rangesPerDivision, reader));
  let after = position;
  for (let division: Promise<Position[]> | undefined = endsAfter(after); division; ) {
    const ends: Position[] = await division;
    division = ends.length < rangesPerDivision ? undefined : endsAfter(ends.at(-1)!);
    for (const until of ends) {
      yield { after, until };
      after = until;
    }
  }
  yield { after, until: null };
}

async function readNext<Position>(
  { read }: DividedList<Position>,
  ranges: AsyncGenerator<ListRange<Position>>,
  reader: ListReader,
): Promise<ReadRange<Position> | undefined> {
  const { done, value } = await ranges.next();
  return done ? undefined : { ...(await read(value, reader)), until: value.until };
}

/** With what has come into a range since it was measured. */
async function* wholeRange<Position>(
  { read }: DividedList<Position>,
  { text, last, until }: ReadRange<Position>,
  reader: ListReader,
): AsyncGenerator<FileText> {
  if (text.length > 0) yield text;
  for (let after = last; after; ) {
    const more: RangeText<Position> = await read({ after, until }, reader);
    if (more.text.length > 0) yield more.text;
    after = more.last;
  }
}

/** Whether it failed is found out when its turn comes, if the reader waits for it at all. */
function unwatched<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
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

/** What a spreadsheet would run as a formula is text. */
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
