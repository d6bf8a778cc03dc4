import { setImmediate as nextTurn } from 'node:timers/promises';
import { CsvError, type Parser, parse } from 'csv-parse';
import { Refusal } from '../../errors.ts';

export type CsvRow = { line: number; cells: string[] };
export type CsvRecord = { line: number; fields: Record<string, string> };
export type CsvColumn = { name: string; key: string };
export type BadLine = { line: number; complaint: string };

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

const headLength = 64 * 1024;

/** Detects the delimiter from the beginning of a text. */
export function detectForm(text: string): CsvForm & { body: string } {
  const head = text.slice(0, headLength);
  const sepLine = /^\ufeff?sep=(.)(?:\r\n?|\n)/i.exec(head);
  if (sepLine) return { delimiter: sepLine[1]!, firstLine: 2, body: text.slice(sepLine[0].length) };
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

const maxRowLength = 1024 * 1024;
/** The event loop is blocked while one part is parsed. */
const partLength = 16 * 1024;

/**
 * Yields non-empty rows in batches, with a pause for other work in between. Quotes inside unquoted values are kept.
 * Refuses rows with more values than the first, and text after a quoted value, where a stray quote may have swallowed
 * several rows.
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
    // Streaming each row would cost more than parsing it.
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
  // The parser calls this only for text after a quoted value.
  (parser as Parser & ParserField).state.field.prepend = () => {
    throw notCsv(firstLine + parser.info.lines - 1, misplacedQuote);
  };
  try {
    let lineLength = 0;
    for await (const part of partsOf(pieces)) {
      await feed(parser, part);
      const lastBreak = part.lastIndexOf('\n');
      lineLength = lastBreak === -1 ? lineLength + part.length : part.length - lastBreak - 1;
      // The parser counts only values, so a line of nothing but commas has no limit.
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

/** Cuts a text into parts with Unix line ends. */
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

/** Never cuts a surrogate pair. */
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

/** Counts line breaks inside values, because the parser reports the last line of a record. */
const countLineBreaks = (cells: readonly string[]) =>
  cells.reduce((sum, cell) => (cell.includes('\n') ? sum + cell.split('\n').length - 1 : sum), 0);

const tooLong = 'the row is too long, a closing quote may be missing';
const misplacedQuote = 'there is text after a quoted value';
const complaints: Record<string, string> = {
  CSV_MAX_RECORD_SIZE: tooLong,
  CSV_QUOTE_NOT_CLOSED: 'a quote is never closed',
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

/** The first non-empty value of several columns, because tools name the same column differently. */
export function field({ fields }: CsvRecord, ...keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = fields[key]?.trim();
    if (value) return value;
  }
  return null;
}

const maxColumnsShown = 10;
const maxColumnNameLength = 40;

/** Names the columns that exist. If the file has no header row, the message shows its first row. */
export function missingColumn(columns: readonly CsvColumn[], name: string): string {
  const names = columns
    .slice(0, maxColumnsShown)
    .map((column) => column.name.slice(0, maxColumnNameLength));
  const more = columns.length > names.length ? ' and more' : '';
  return `the header row has no column named ${name}, only ${names.join(', ')}${more}`;
}

const maxLinesShown = 20;

export function refuseBadLines(bad: readonly BadLine[]) {
  if (bad.length === 0) return;
  const shown = bad
    .slice(0, maxLinesShown)
    .map(({ line, complaint }) => `line ${line}: ${complaint}`);
  const more = bad.length > shown.length ? [`and ${bad.length - shown.length} more`] : [];
  const lines = [...shown, ...more].map((line) => `\n  ${line}`).join('');
  throw new Refusal('invalid', `nothing was done, because these lines are invalid:${lines}`);
}

/** Normalizes a header: `Created At` becomes `createdat`. */
export const headerKey = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
