import { Refusal } from '../errors.ts';
import { separate } from '../lib/cli/csv.ts';
import { type CsvRow, csvRowsInParts } from '../lib/cli/csv-rows.ts';
import { headerKey } from '../lib/cli/header-key.ts';
import { decode } from '../lib/cli/read-file.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { isMailable } from '../lib/smtp/address.ts';
import { lockForContacts } from '../surveys/lifecycle.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { emailColumns, nameColumns } from './rules.ts';
import { insertChunk, insertUpload, readChunks, type Upload } from './upload.queries.ts';

export const largestUpload = 32 * 1024 * 1024;
export const mostUploadRows = 100_000;
/** The page that maps columns has a control for each. */
const mostUploadColumns = 200;
const chunkLength = 256 * 1024;
const longestFileName = 200;
const rowsShown = 5;
const rowsLookedAt = 1000;

type GivenList = { name: string; bytes: Uint8Array };

/**
 * Keeps a list until its columns are mapped. What is no CSV, has no column of addresses or too many rows is refused
 * whole, with the line.
 */
export async function takeUpload({ db }: { db: Db }, survey: OrgSurvey, given: GivenList) {
  const text = textOf(given.bytes).replace(/\r\n?/g, '\n');
  const { delimiter, firstLine, body } = separate(text);
  const { rows, hasHeader } = await lookThrough(body, { delimiter, firstLine });
  return await inTransaction(db, async (tx) => {
    await lockForContacts(tx, survey);
    const uploadId = await insertUpload(tx, survey, {
      name: given.name.slice(0, longestFileName) || 'list',
      delimiter,
      rows,
      first_line: firstLine,
      has_header: hasHeader,
    });
    const upload = { orgId: survey.orgId, uploadId };
    let place = 0;
    for (const chunk of chunksOf(body)) await insertChunk(tx, upload, { place: place++, chunk });
    return uploadId;
  });
}

function textOf(bytes: Uint8Array): string {
  try {
    return decode(bytes).text;
  } catch (error) {
    throw new Refusal('invalid', `the file cannot be read: ${(error as Error).message}`);
  }
}

/** No piece ends within a character. */
function* chunksOf(text: string) {
  for (let from = 0; from < text.length; ) {
    const cut = text.charCodeAt(from + chunkLength - 1);
    const end = from + chunkLength + (cut >= 0xd800 && cut < 0xdc00 ? 1 : 0);
    yield text.slice(from, end);
    from = end;
  }
}

type ListForm = { delimiter: string; firstLine: number };

async function lookThrough(body: string, form: ListForm) {
  let [rows, headers, addresses] = [0, 0, 0];
  let first: CsvRow | undefined;
  for await (const some of csvRowsInParts(chunksOf(body), form)) {
    for (const row of some) {
      first ??= row;
      if (row.cells.length > mostUploadColumns) throw tooWide(row.line);
      if (row === first) headers = row.cells.some(isAddress) ? 0 : 1;
      rows += 1;
      if (rows <= rowsLookedAt) addresses += row.cells.filter(isAddress).length;
      if (rows - headers > mostUploadRows) throw tooMany(row.line);
    }
  }
  if (!first) throw new Refusal('invalid', 'the list is empty');
  if (addresses === 0) {
    const where = `line ${first.line}: no column holds email addresses`;
    throw new Refusal('invalid', `nothing was taken over: ${where}`, { code: 'no_addresses' });
  }
  return { rows: rows - headers, hasHeader: headers === 1 };
}

const isAddress = (cell: string) => isMailable(cell.trim());

const tooWide = (line: number) =>
  new Refusal(
    'invalid',
    `nothing was taken over: line ${line}: a list has at most ${mostUploadColumns} columns`,
    { code: 'too_many_columns' },
  );

const tooMany = (line: number) =>
  new Refusal(
    'invalid',
    `nothing was taken over: line ${line}: a list has at most ${mostUploadRows} rows`,
    { code: 'too_many_rows' },
  );

export type ColumnUse = 'email' | 'name' | 'property' | 'skip';
export type UploadColumn = { name: string; use: ColumnUse };

/** The first rows of an upload, and what its columns seem to hold. */
export async function previewUpload(sql: Sql, orgId: string, upload: Upload) {
  const rows: CsvRow[] = [];
  for await (const some of rowsOf(sql, orgId, upload)) {
    rows.push(...some.slice(0, rowsShown + 1 - rows.length));
    if (rows.length > rowsShown) break;
  }
  const [head] = rows;
  const shown = upload.has_header ? rows.slice(1) : rows.slice(0, rowsShown);
  const widest = Math.max(...rows.map(({ cells }) => cells.length), 0);
  const names = Array.from({ length: widest }, (_, place) => {
    const name = upload.has_header ? head?.cells[place]?.trim() : '';
    return name || `Column ${place + 1}`;
  });
  return { columns: guessUses(names, shown), rows: shown };
}

export const rowsOf = (sql: Sql, orgId: string, { id, delimiter, first_line }: Upload) =>
  csvRowsInParts(readChunks(sql, { orgId, uploadId: id }), { delimiter, firstLine: first_line });

/** The first column that is called so or holds addresses is the email; the first that is called so the name. */
function guessUses(names: readonly string[], rows: readonly CsvRow[]): UploadColumn[] {
  const keys = names.map(headerKey);
  const holds = (place: number) => rows.some(({ cells }) => isAddress(cells[place] ?? ''));
  const called = keys.findIndex((key, place) => emailColumns.includes(key) && holds(place));
  const email = called >= 0 ? called : keys.findIndex((_, place) => holds(place));
  const name = keys.findIndex((key) => nameColumns.includes(key));
  return names.map((each, place) => {
    if (place === email) return { name: each, use: 'email' };
    return { name: each, use: place === name ? 'name' : 'property' };
  });
}
