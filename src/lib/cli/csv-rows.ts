import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { notCsv } from './csv.ts';

export type CsvRow = { line: number; cells: string[] };

type RowOptions = {
  delimiter: string;
  /** The line of the file on which the text begins. */
  firstLine: number;
};

/** In characters; what is longer is no list. */
const longestRow = 1024 * 1024;

/**
 * The rows of a CSV text that comes in pieces, without empty ones: so many rows as there are, in flat memory. A row
 * longer than the first one is refused, as are quotes out of place, with the line.
 */
export async function* csvRows(
  pieces: AsyncIterable<string> | Iterable<string>,
  { delimiter, firstLine }: RowOptions,
): AsyncGenerator<CsvRow> {
  const parser = parse({
    ...{ bom: true, info: true, delimiter },
    ...{ skip_empty_lines: true, skip_records_with_empty_values: true },
    relax_column_count_less: true,
    max_record_size: longestRow,
  });
  const source = Readable.from(pieces);
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const { info, record } of parser as AsyncIterable<ParsedRow>) {
      yield { line: firstLine + info.lines - 1 - lineBreaksIn(record), cells: record };
    }
  } catch (error) {
    throw (error as { code?: string }).code?.startsWith('CSV_') ? notCsv(error, firstLine) : error;
  } finally {
    source.destroy();
  }
}

type ParsedRow = { info: { lines: number }; record: string[] };

/** The parser counts to a record's last line. */
const lineBreaksIn = (cells: readonly string[]) =>
  cells.reduce((sum, cell) => sum + cell.split('\n').length - 1, 0);
