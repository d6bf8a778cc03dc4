import { parse } from 'csv-parse/sync';
import { Refusal } from '../../errors.ts';

/** One record of a CSV file: its fields by normalized header, and the line it begins on. */
export type CsvRecord = { line: number; fields: Record<string, string> };

export type BadLine = { line: number; complaint: string };

/** Header names are compared without case, spaces and punctuation: `Created At` is `createdat`. */
export const headerKey = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Reads a CSV file with a header row; the original header names are kept beside the records. */
export function readCsv(text: string): { headers: string[]; records: CsvRecord[] } {
  let headers: string[] = [];
  const rows = parsing(() =>
    parse(text, {
      bom: true,
      info: true,
      skip_empty_lines: true,
      relax_column_count_less: true,
      columns: (names: string[]) => {
        headers = names;
        return names.map((name, place) => headerKey(name) || `column${place}`);
      },
    }),
  ) as unknown as { info: { lines: number }; record: Record<string, string> }[];
  const records = rows.map(({ info, record }) => ({ line: info.lines, fields: record }));
  return { headers, records };
}

function parsing<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Refusal('invalid', `the file is not CSV: ${(error as Error).message}`);
  }
}

/** The first of several columns that is filled: files from different tools name the same thing apart. */
export function field({ fields }: CsvRecord, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = fields[name]?.trim();
    if (value) return value;
  }
  return null;
}

const complaintsShown = 20;

/** Nothing of a file with bad lines is taken over: they are told by their numbers. */
export function refuseBadLines(bad: readonly BadLine[]) {
  if (bad.length === 0) return;
  const shown = bad
    .slice(0, complaintsShown)
    .map(({ line, complaint }) => `line ${line}: ${complaint}`);
  const more = bad.length > shown.length ? [`and ${bad.length - shown.length} more`] : [];
  const lines = [...shown, ...more].map((line) => `\n  ${line}`).join('');
  throw new Refusal('invalid', `nothing was imported, these lines are not usable:${lines}`);
}
