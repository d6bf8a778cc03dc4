import { setImmediate as nextTurn } from 'node:timers/promises';
import { CsvError, type Parser, parse } from 'csv-parse';
import { Refusal } from '../../errors.ts';

export type CsvRow = { line: number; cells: string[] };
export type CsvRecord = { line: number; fields: Record<string, string> };
export type CsvColumn = { name: string; key: string };
export type BadLine = { line: number; complaint: string };

/** Reads a CSV text with a header row, which names the fields of each record. */
export async function readCsv(text: string) {
  if (text.trim() === '') throw new Refusal('invalid', 'the file is empty', { code: 'not_csv' });
  const { body, ...form } = detectForm(text);
  const rows: CsvRow[] = [];
  for await (const row of csvRows([body], form)) rows.push(row);
  const [header, ...others] = rows;
  const columns = (header?.cells ?? []).map((name, place) => ({
    name: name.trim(),
    key: headerKey(name) || `column ${place + 1}`,
  }));
  refuseUnclearColumns(columns, form.firstLine);
  const records: CsvRecord[] = others.map(({ line, cells }) => ({
    line,
    fields: Object.fromEntries(columns.map(({ key }, place) => [key, cells[place] ?? ''])),
  }));
  refuseUnnamedValues(columns, records);
  return { columns: columns.filter(({ name }) => name !== ''), records };
}

type CsvForm = { delimiter: string; firstLine: number };

/** In characters: more of a header row is not looked at, a longer one is no list. */
const headLength = 64 * 1024;

/** Detects the delimiter that a spreadsheet wrote, by the beginning of a text. */
export function detectForm(text: string): CsvForm & { body: string } {
  const head = text.slice(0, headLength);
  const named = /^\ufeff?sep=(.)(?:\r\n?|\n)/i.exec(head);
  if (named) return { delimiter: named[1]!, firstLine: 2, body: text.slice(named[0].length) };
  const header = (/^\s*([^\r\n]*)/.exec(head)?.[1] ?? '').replace(/"[^"]*"/g, '');
  const count = (mark: string) => header.split(mark).length;
  const [delimiter = ','] = [',', ';', '\t'].sort((one, other) => count(other) - count(one));
  return { delimiter, firstLine: 1, body: text };
}

export async function* csvRows(
  pieces: AsyncIterable<string> | Iterable<string>,
  form: CsvForm,
): AsyncGenerator<CsvRow> {
  for await (const rows of csvRowsInParts(pieces, form)) yield* rows;
}

/** In characters; what is longer is no list. */
const maxRowLength = 1024 * 1024;
/** In characters; the process does nothing else while so much is read. */
const partLength = 16 * 1024;

/**
 * Yields the rows of a text in batches and without empty ones, with a pause for other work between two batches. A quote
 * within an unquoted value is a part of it. Refuses a row with more values than the first one, and text behind a quoted
 * value: that value may be several rows whose first quote is a mistake.
 */
export async function* csvRowsInParts(
  pieces: AsyncIterable<string> | Iterable<string>,
  { delimiter, firstLine }: CsvForm,
): AsyncGenerator<CsvRow[]> {
  let rows: CsvRow[] = [];
  let width = 0;
  const parser = parse({
    bom: true,
    delimiter,
    ltrim: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: maxRowLength,
    // Rows as items of a stream would cost more than reading them.
    on_record(cells: string[], { lines }) {
      const line = firstLine + lines - 1 - countLineBreaks(cells);
      width ||= cells.length;
      if (cells.length > width && cells.splice(width).some((cell) => cell.trim() !== '')) {
        throw notCsv(line, 'it has more values than the first row');
      }
      rows.push({ line, cells });
      return null;
    },
  });
  // The parser calls this for text behind a quoted value, and for nothing else.
  (parser as Parser & ParserField).state.field.prepend = () => {
    throw notCsv(firstLine + parser.info.lines - 1, misplacedQuote);
  };
  try {
    let lineLength = 0;
    for await (const part of partsOf(pieces)) {
      await feed(parser, part);
      const lastBreak = part.lastIndexOf('\n');
      lineLength = lastBreak === -1 ? lineLength + part.length : part.length - lastBreak - 1;
      // The parser measures a row by its values alone: a line of nothing but commas would have no end.
      if (lineLength > maxRowLength) {
        throw notCsv(firstLine + parser.info.lines - 1, tooLong);
      }
      if (rows.length > 0) yield rows;
      rows = [];
    }
    await feed(parser, null);
    if (rows.length > 0) yield rows;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = firstLine + Number(error['lines'] ?? 1) - 1;
    throw notCsv(line, complaints[error.code] ?? error.message);
  } finally {
    parser.destroy();
  }
}

type ParserField = { state: { field: { prepend: (quote: unknown) => void } } };

/** The parts of a text, with line ends of Unix. */
async function* partsOf(pieces: AsyncIterable<string> | Iterable<string>) {
  let endsWithCr = false;
  for await (const piece of pieces) {
    for (const part of cutText(piece, partLength)) {
      const rest = endsWithCr && part.startsWith('\n') ? part.slice(1) : part;
      endsWithCr = part.endsWith('\r');
      yield rest.replace(/\r\n?/g, '\n');
      await nextTurn();
    }
  }
}

/** Cuts a text into parts of about a length, never within a surrogate pair. */
function* cutText(text: string, length: number) {
  for (let from = 0; from < text.length; ) {
    const cut = text.charCodeAt(from + length - 1);
    const end = from + length + (cut >= 0xd800 && cut < 0xdc00 ? 1 : 0);
    yield text.slice(from, end);
    from = end;
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

const tooLong = 'it is longer than a row can be; a quote may be missing its end';
const misplacedQuote = 'there is text behind a value in quotes';
const complaints: Record<string, string> = {
  CSV_MAX_RECORD_SIZE: tooLong,
  CSV_QUOTE_NOT_CLOSED: 'a quote that is opened before is never closed',
};

const notCsv = (line: number, complaint: string) =>
  new Refusal('invalid', `the file is not CSV: line ${line}: ${complaint}`, { code: 'not_csv' });

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
