import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Parser, parse } from 'csv-parse';
import { notCsv } from './csv.ts';

export type CsvRow = { line: number; cells: string[] };

type RowOptions = {
  delimiter: string;
  /** The line of the file on which the text begins. */
  firstLine: number;
};

/** In characters; what is longer is no list. */
const longestRow = 1024 * 1024;
/** In characters; the process does nothing else while so much is read. */
const readAtOnce = 16 * 1024;

/**
 * The rows of a CSV text that comes in pieces, without empty ones, so many as are in each part of it: in flat memory,
 * and other work goes on between two parts. A row longer than the first one is refused, as are quotes out of place,
 * with the line.
 */
export async function* csvRowsInParts(
  pieces: AsyncIterable<string> | Iterable<string>,
  { delimiter, firstLine }: RowOptions,
): AsyncGenerator<CsvRow[]> {
  let rows: CsvRow[] = [];
  const parser = parse({
    bom: true,
    delimiter,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    relax_column_count_less: true,
    max_record_size: longestRow,
    // Taken here: as items of a stream rows cost more than reading them.
    on_record(cells: string[], { lines }) {
      rows.push({ line: firstLine + lines - 1 - lineBreaksIn(cells), cells });
      return null;
    },
  });
  try {
    let lineLength = 0;
    let lineEnd = '';
    for await (const part of partsOf(pieces)) {
      await feed(parser, part);
      lineEnd ||= /\r?\n|\r/.exec(part)?.[0] ?? ''; // of a list from an old Mac it is \r alone
      const lastBreak = lineEnd === '' ? -1 : part.lastIndexOf(lineEnd);
      const before = lastBreak === -1 ? lineLength : -lastBreak - lineEnd.length;
      lineLength = before + part.length;
      if (lineLength > longestRow) throw tooLong(parser);
      if (rows.length > 0) yield rows;
      rows = [];
    }
    await feed(parser, null);
    if (rows.length > 0) yield rows;
  } catch (error) {
    throw (error as { code?: string }).code?.startsWith('CSV_') ? notCsv(error, firstLine) : error;
  } finally {
    parser.destroy();
  }
}

/** The parser measures a row by its values alone: a line of nothing but commas would have no end. */
const tooLong = ({ info: { lines } }: Parser) =>
  Object.assign(new Error('a line is too long'), { code: 'CSV_MAX_RECORD_SIZE', lines });

/** The same row by row. */
export async function* csvRows(
  pieces: AsyncIterable<string> | Iterable<string>,
  options: RowOptions,
): AsyncGenerator<CsvRow> {
  for await (const rows of csvRowsInParts(pieces, options)) yield* rows;
}

async function* partsOf(pieces: AsyncIterable<string> | Iterable<string>) {
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      const cut = piece.charCodeAt(from + readAtOnce - 1);
      const end = from + readAtOnce + (cut >= 0xd800 && cut < 0xdc00 ? 1 : 0);
      yield piece.slice(from, end);
      from = end;
      await nextTurn();
    }
  }
}

/** Gives a part to the parser, which calls `on_record` for what it completes; null ends the text. */
async function feed(parser: Parser, part: string | null) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onDone = (error?: Error | null) => (error ? reject(error) : resolve());
  parser.once('error', reject);
  if (part === null) parser.end(onDone);
  else parser.write(part, onDone);
  await promise.finally(() => parser.off('error', reject));
}

/** The parser counts to a record's last line. */
const lineBreaksIn = (cells: readonly string[]) =>
  cells.reduce((sum, cell) => (cell.includes('\n') ? sum + cell.split('\n').length - 1 : sum), 0);
