import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Parser, parse } from 'csv-parse';
import { parse as parseCsv } from 'csv-parse/sync';
import { Refusal } from '../../errors.ts';

export type CsvRow = { line: number; cells: string[] };

type RowOptions = {
  delimiter: string;
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
      rows.push({ line: firstLine + lines - 1 - countLineBreaks(cells), cells });
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

async function feed(parser: Parser, part: string | null) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onDone = (error?: Error | null) => (error ? reject(error) : resolve());
  parser.once('error', reject);
  if (part === null) parser.end(onDone);
  else parser.write(part, onDone);
  await promise.finally(() => parser.off('error', reject));
}

/** The parser counts to a record's last line. */
const countLineBreaks = (cells: readonly string[]) =>
  cells.reduce((sum, cell) => (cell.includes('\n') ? sum + cell.split('\n').length - 1 : sum), 0);

export type CsvRecord = { line: number; fields: Record<string, string> };

export type CsvColumn = { name: string; key: string };

export type BadLine = { line: number; complaint: string };

/**
 * Reads a CSV file with a header row as spreadsheets write it: separated by commas, semicolons or tabs,
 * with any line end, with rows and columns that are empty.
 */
export function readCsv(text: string): { columns: CsvColumn[]; records: CsvRecord[] } {
  if (text.trim() === '') throw new Refusal('invalid', 'the file is empty', { code: 'not_csv' });
  const { delimiter, firstLine, body } = separate(text.replace(/\r\n?/g, '\n'));
  let columns: CsvColumn[] = [];
  type Row = { info: { lines: number }; record: Record<string, string> };
  let rows: Row[];
  try {
    rows = parseCsv(body, {
      bom: true,
      info: true,
      delimiter,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      relax_column_count_less: true,
      columns: (names: string[]) => {
        columns = names.map((name, place) => ({
          name: name.trim(),
          key: headerKey(name) || `column ${place + 1}`,
        }));
        return columns.map(({ key }) => key);
      },
    }) as unknown as Row[];
  } catch (error) {
    throw notCsv(error, firstLine);
  }
  refuseUnclearColumns(columns, firstLine);
  const records = rows.map(({ info: { lines }, record }) => ({
    line: firstLine + lines - 1 - countLineBreaks(Object.values(record)),
    fields: record,
  }));
  refuseUnnamedValues(columns, records);
  return { columns: columns.filter(({ name }) => name !== ''), records };
}

/** In characters: more of a header row is not looked at, a longer one is no list. */
const headLength = 64 * 1024;

export function separate(text: string) {
  const said = /^\ufeff?sep=(.)\n/i.exec(text);
  if (said) {
    const skipped = said[0].length;
    return { delimiter: said[1]!, firstLine: 2, skipped, body: text.slice(skipped) };
  }
  const head = text.slice(0, headLength);
  const header = (/^\s*(.*)/.exec(head)?.[1] ?? '').replace(/"[^"]*"/g, '');
  const count = (mark: string) => header.split(mark).length;
  const [delimiter = ','] = [',', ';', '\t'].sort((one, other) => count(other) - count(one));
  return { delimiter, firstLine: 1, skipped: 0, body: text };
}

function notCsv(error: unknown, firstLine: number): Refusal {
  const { code, lines, record, message } = error as CsvFault;
  const line = `line ${firstLine + (lines ?? 1) - 1}`;
  const complaint = sentences[code ?? '']?.(record?.length ?? 0) ?? message;
  return new Refusal('invalid', `the file is not CSV: ${line}: ${complaint}`, { code: 'not_csv' });
}

type CsvFault = Error & { code?: string; lines?: number; record?: string[] };

const misplacedQuote = () => 'a quote stands inside of a value that is not quoted as a whole';

const sentences: Record<string, (found: number) => string> = {
  CSV_MAX_RECORD_SIZE: () => 'it is longer than a row can be; a quote may be missing its end',
  CSV_RECORD_INCONSISTENT_COLUMNS: (found) => `it has ${found} values, more than the header row`,
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH: (found) =>
    `it has ${found} values, more than the first row`,
  CSV_QUOTE_NOT_CLOSED: () => 'a quote that is opened before is never closed',
  CSV_INVALID_CLOSING_QUOTE: misplacedQuote,
  INVALID_OPENING_QUOTE: misplacedQuote,
};

function refuseUnclearColumns(columns: readonly CsvColumn[], line: number) {
  const seen = new Map<string, string>();
  for (const { name, key } of columns) {
    const other = seen.get(key);
    if (other !== undefined) {
      const complaint = `the columns ${JSON.stringify(other)} and ${JSON.stringify(name)} have the same name`;
      refuseBadLines([{ line, complaint }]);
    }
    seen.set(key, name);
  }
}

function refuseUnnamedValues(columns: readonly CsvColumn[], records: readonly CsvRecord[]) {
  const unnamed = columns.filter(({ name }) => name === '').map(({ key }) => key);
  const bad = records.flatMap(({ line, fields }) => {
    const key = unnamed.find((each) => fields[each]?.trim());
    return key ? [{ line, complaint: `${key} has a value, but no name in the header row` }] : [];
  });
  refuseBadLines(bad);
}

/** The first of several columns that is filled: files from different tools name the same thing apart. */
export function field({ fields }: CsvRecord, ...keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = fields[key]?.trim();
    if (value) return value;
  }
  return null;
}

const columnsShown = 10;
const longestColumn = 40;

/** What the header row lacks, and what it has instead: a file without one shows its first row here. */
export function missingColumn(columns: readonly CsvColumn[], name: string): string {
  const named = columns.slice(0, columnsShown).map((each) => each.name.slice(0, longestColumn));
  const more = columns.length > named.length ? ' and more' : '';
  return `the header row has no column named ${name}, only ${named.join(', ')}${more}`;
}

const complaintsShown = 20;

export function refuseBadLines(bad: readonly BadLine[]) {
  if (bad.length === 0) return;
  const shown = bad
    .slice(0, complaintsShown)
    .map(({ line, complaint }) => `line ${line}: ${complaint}`);
  const more = bad.length > shown.length ? [`and ${bad.length - shown.length} more`] : [];
  const lines = [...shown, ...more].map((line) => `\n  ${line}`).join('');
  throw new Refusal('invalid', `nothing was done, these lines are not usable:${lines}`);
}

/** Header names are compared without case, spaces and punctuation: `Created At` is `createdat`. */
export const headerKey = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
