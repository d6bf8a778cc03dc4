import { recordAct, type Writer } from '../audit/acts.ts';
import { Refusal } from '../errors.ts';
import { inBatches } from '../lib/async/batch.ts';
import { createSemaphore, TooManyWaiting } from '../lib/async/semaphore.ts';
import { type CsvRow, csvRows, detectForm, headerKey } from '../lib/cli/csv.ts';
import { decodeInPieces } from '../lib/cli/encoding.ts';
import { isZip, readWorkbook } from '../lib/cli/workbook.ts';
import { type Db, inRetriedTransaction, inTransaction, type Sql } from '../lib/db/db.ts';
import { isMailable } from '../lib/smtp/address.ts';
import { oneLine } from '../lib/validation/parse.ts';
import { beginErasure } from '../people/erase.queries.ts';
import { deleteAddedPeople } from '../people/save.ts';
import { completeIfAnswered, lockForContacts } from '../surveys/lifecycle.ts';
import { lockSurvey, type OrgSurvey, reopenSurvey } from '../surveys/queries.ts';
import { listErased } from './erase.ts';
import { listByAddress, saveContacts } from './queries.ts';
import {
  type CheckedContact,
  checkRow,
  contactColumnOf,
  contactColumns,
  describeRowError,
} from './rules.ts';
import { validateMerges } from './save.ts';
import {
  deleteAdded,
  deleteUpload,
  deleteWaitingUpload,
  endUpload,
  insertChunk,
  insertRejects,
  insertUpload,
  lockWaitingUpload,
  readChunks,
  type Upload,
  type UploadReject,
} from './upload.queries.ts';

/**
 * Reading a form holds several copies of a list in memory: hundreds of megabytes for the largest list. A process reads
 * or imports at most four lists at once, at most two of them for one organization.
 */
const slots = createSemaphore({ slots: 4, reserve: 2, maxWaitingPerGroup: 8 });
const retryInSeconds = 10;

/** Waits for a slot before the body of the request is read. */
export async function runInUploadSlot<T>(orgId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await slots.run(orgId, work);
  } catch (error) {
    if (!(error instanceof TooManyWaiting)) throw error;
    throw new Refusal(
      'rate_limited',
      'Your organization is already uploading several lists. Try again when they are done.',
      { code: 'too_many_uploads', retryInSeconds },
    );
  }
}

const rowsPerBatch = 1000;
export const maxRejectsKept = 1000;
const maxShownLength = 200;

/**
 * Imports the contacts of an upload. Rows without a valid address are skipped and listed, and repeated addresses are
 * skipped. Importing twice changes nothing. If no row has a valid address, the upload keeps waiting, because the
 * addresses may be in another column.
 */
export async function importUpload({ db }: { db: Db }, by: Writer, list: MappedList) {
  const { upload } = list;
  const survey = { orgId: by.orgId, surveyId: upload.survey_id };
  const orgUpload = { orgId: by.orgId, uploadId: upload.id };
  await inRetriedTransaction(db, async (tx) => {
    await lockForContacts(tx, survey);
    if (!(await lockWaitingUpload(tx, orgUpload))) return;
    let stored = 0;
    const counts = await readContacts(tx, survey, list, {
      async save(contacts) {
        const saved = await saveContacts(tx, survey, contacts);
        return saved.filter((contact) => contact.added).length;
      },
      async reject(rejects) {
        const kept = rejects.slice(0, Math.max(maxRejectsKept - stored, 0));
        stored += kept.length;
        if (kept.length > 0) await insertRejects(tx, orgUpload, kept);
      },
    });
    if (counts.added + counts.known === 0) {
      throw new Refusal('invalid', 'no row has a valid address in the email column', {
        code: 'no_addresses',
      });
    }
    await endUpload(tx, { ...orgUpload, ...survey }, counts);
    if (counts.added > 0) await reopenSurvey(tx, survey.orgId, survey.surveyId);
    const target = { kind: 'survey', id: survey.surveyId } as const;
    const { orgId, actor } = by;
    await recordAct(tx, { orgId, actor, act: 'contacts.imported', target, details: counts });
  });
}

export type MappedList = {
  upload: Upload;
  columns: readonly UploadColumn[];
  hasHeader: boolean;
};

/** Counts what an import would do, and lists the first skipped rows. Changes nothing. */
export async function reviewUpload(sql: Sql, survey: OrgSurvey, list: MappedList) {
  const skipped: UploadReject[] = [];
  const skip = (rejects: readonly UploadReject[]) => {
    skipped.push(...rejects.slice(0, maxRejectsKept - skipped.length));
  };
  const counts = await readContacts(sql, survey, list, {
    async save(contacts) {
      const keys = contacts.map(({ key }) => key);
      return contacts.length - (await listByAddress(sql, survey, keys)).length;
    },
    reject: async (rejects) => skip(rejects),
    repeat: (reject) => skip([reject]),
  });
  skipped.sort((one, other) => one.line - other.line);
  return { ...counts, skipped };
}

type ContactTarget = {
  /** Returns the number of new contacts. */
  save: (contacts: readonly CheckedContact[]) => Promise<number>;
  reject: (rejects: readonly UploadReject[]) => Promise<void>;
  /** Called for a row that repeats the address of an earlier row. */
  repeat?: (reject: UploadReject) => void;
};

/** Reads contacts in batches and remembers only addresses, so that memory stays flat. */
async function readContacts(
  sql: Sql,
  survey: OrgSurvey,
  { upload, columns, hasHeader }: MappedList,
  { save, reject, repeat }: ContactTarget,
) {
  const toContact = rowReader(columns);
  const lineOf = new Map<string, number>();
  const counts = { added: 0, known: 0, repeated: 0, rejected: 0 };
  let skipped = hasHeader ? 1 : 0;
  for await (const rows of inBatches(readRows(sql, survey.orgId, upload), rowsPerBatch)) {
    const contacts: CheckedContact[] = [];
    const rejects: UploadReject[] = [];
    for (const { line, ...row } of rows.slice(skipped).map(toContact)) {
      const earlier = 'contact' in row ? lineOf.get(row.contact.key) : undefined;
      if ('reject' in row) rejects.push({ line, ...row.reject });
      else if (earlier !== undefined) {
        counts.repeated += 1;
        repeat?.({ line, value: row.contact.email, reason: `same address as line ${earlier}` });
      } else {
        lineOf.set(row.contact.key, line);
        contacts.push(row.contact);
      }
    }
    skipped = 0;
    const keys = contacts.map(({ key }) => key);
    const erased = await listErased(sql, survey.orgId, keys);
    const complaints = await validateMerges(sql, survey, contacts);
    const usable = contacts.filter(({ key, email }) => {
      const complaint = complaints.get(key);
      const line = lineOf.get(key)!;
      // The address of an erased person must not be stored.
      if (erased.has(key)) rejects.push({ line, value: '', reason: 'this person was erased' });
      else if (complaint) {
        rejects.push({ line, value: email, reason: `the properties ${complaint}` });
      } else return true;
      return false;
    });
    const added = usable.length > 0 ? await save(usable) : 0;
    counts.added += added;
    counts.known += usable.length - added;
    counts.rejected += rejects.length;
    await reject(rejects);
  }
  return counts;
}

type ReadRow = { line: number } & (
  | { contact: CheckedContact }
  | { reject: Pick<UploadReject, 'value' | 'reason'> }
);

/** Reads rows by the chosen columns. If several columns have the same field, the first filled one counts. */
function rowReader(columns: readonly UploadColumn[]) {
  return ({ line, cells }: CsvRow): ReadRow => {
    const filled = (use: ColumnUse) =>
      columns.flatMap((column, place) => {
        const cell = column.use === use ? cells[place]?.trim() : '';
        return cell ? [[column.name, cell] as const] : [];
      });
    const text = (use: ColumnUse) => filled(use)[0]?.[1] ?? '';
    const checked = checkRow(text, Object.fromEntries(filled('property')));
    if (!('complaint' in checked)) return { line, contact: checked };
    const reason = describeRowError(checked, text('email'));
    return { line, reject: { value: text('email').slice(0, maxShownLength), reason } };
  };
}

export const maxUploadBytes = 32 * 1024 * 1024;
const maxUploadRows = 100_000;
/** The mapping form has a control for each column. */
const maxUploadColumns = 200;
/** Limit per organization. */
const maxWaitingBytes = 200 * 1024 * 1024;
const maxFileNameLength = 200;
const rowsShown = 5;
const rowsLookedAt = 1000;

/**
 * Stores a list until its columns are mapped. Refuses a list that is not CSV, has no address column or is too large.
 * Replaces the member's waiting upload for the same survey.
 */
export async function saveUpload(
  { db }: { db: Db },
  { orgId, actor }: Writer,
  { surveyId, name, bytes }: { surveyId: string; name: string; bytes: Uint8Array },
) {
  const survey = { orgId, surveyId };
  const { pieces, sheet, ...facts } = await readList(bytes);
  return await inTransaction(db, async (tx) => {
    await lockForContacts(tx, survey);
    const waiting = await deleteWaitingUpload(tx, survey, actor.id);
    if (waiting + bytes.length > maxWaitingBytes) {
      throw new Refusal(
        'conflict',
        'your organization has too many lists that are not imported yet: import or delete one of them',
        { code: 'too_many_lists' },
      );
    }
    const uploadId = await insertUpload(tx, survey, {
      name: `${name}${sheet}`.slice(0, maxFileNameLength) || 'list',
      uploaded_by: actor.id,
      bytes: bytes.length,
      ...facts,
    });
    let place = 0;
    for (const chunk of pieces()) {
      await insertChunk(tx, { orgId, uploadId }, { place: place++, chunk });
    }
    return uploadId;
  });
}

/**
 * Deletes an upload with the contacts that it added, except the ones that were mailed or have answered since. Returns
 * the number of deleted contacts.
 */
export async function deleteUploadedContacts(
  { db }: { db: Db },
  { orgId, actor }: Writer,
  upload: Upload,
) {
  const { id: uploadId, survey_id: surveyId } = upload;
  const list = { orgId, uploadId };
  const deleted = await inTransaction(db, async (tx) => {
    await lockSurvey(tx, orgId, surveyId);
    // Otherwise the list could be imported between the two transactions.
    if (await lockWaitingUpload(tx, list)) await deleteUpload(tx, list);
    const count = await deleteAdded(tx, { orgId, surveyId }, uploadId);
    if (count === 0) return 0;
    await completeIfAnswered(tx, { orgId }, surveyId);
    const target = { kind: 'survey', id: surveyId };
    const details = { deleted: count };
    await recordAct(tx, { orgId, actor, act: 'contacts.deleted', target, details });
    return count;
  });
  // Blocks the sends of the organization, so it must be short. After a crash, deleting the list again finishes this part.
  await inTransaction(db, async (tx) => {
    await beginErasure(tx, orgId);
    await deleteAddedPeople(tx, orgId, uploadId);
    await deleteUpload(tx, list);
  });
  return deleted;
}

async function readList(bytes: Uint8Array) {
  if (isZip(bytes)) return await readSheet(bytes);
  const [head = ''] = decodeChunks(bytes);
  const { delimiter, firstLine, body } = detectForm(head);
  const pieces = () => decodeChunks(bytes, head.length - body.length);
  return { ...(await inspectList(pieces(), { delimiter, firstLine })), sheet: '', pieces };
}

/** Reads the first sheet that has email addresses. */
async function readSheet(bytes: Uint8Array) {
  let refusal: unknown;
  for (const { name, pieces } of await readWorkbook(bytes).catch(refuseUnreadable)) {
    try {
      const facts = await inspectList(pieces, { delimiter: ',', firstLine: 1 });
      return { ...facts, sheet: `, sheet ${oneLine(name)}`, pieces: () => pieces };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

/** Decodes a list in chunks, without its first `skipped` characters. */
function* decodeChunks(bytes: Uint8Array, skipped = 0): Generator<string> {
  let toSkip = skipped;
  try {
    for (const piece of decodeInPieces(bytes)) {
      yield piece.slice(toSkip);
      toSkip = 0;
    }
  } catch (error) {
    refuseUnreadable(error);
  }
}

function refuseUnreadable(error: unknown): never {
  throw new Refusal('invalid', `cannot read the file: ${(error as Error).message}`);
}

async function inspectList(
  pieces: Iterable<string>,
  { delimiter, firstLine }: { delimiter: string; firstLine: number },
) {
  let [rows, headers, addresses] = [0, 0, 0];
  let first: CsvRow | undefined;
  for await (const row of csvRows(pieces, { delimiter, firstLine })) {
    first ??= row;
    if (row.cells.length > maxUploadColumns) {
      const complaint = `a list has at most ${maxUploadColumns} columns`;
      throw refuseLine(row.line, complaint, 'too_many_columns');
    }
    if (row === first) headers = row.cells.some(isAddress) ? 0 : 1;
    rows += 1;
    if (rows <= rowsLookedAt) addresses += row.cells.filter(isAddress).length;
    if (rows - headers > maxUploadRows) {
      throw refuseLine(row.line, `a list has at most ${maxUploadRows} rows`, 'too_many_rows');
    }
  }
  if (!first) throw new Refusal('invalid', 'the list is empty');
  if (addresses === 0) {
    throw refuseLine(first.line, 'no column contains email addresses', 'no_addresses');
  }
  return { rows: rows - headers, has_header: headers === 1, delimiter, first_line: firstLine };
}

const isAddress = (cell: string) => isMailable(cell.trim());

const refuseLine = (line: number, what: string, code: string) =>
  new Refusal('invalid', `nothing was imported: line ${line}: ${what}`, { code });

export const columnUses = [...contactColumns, 'property', 'skip'] as const;
export type ColumnUse = (typeof columnUses)[number];
export type UploadColumn = { name: string; use: ColumnUse };

export async function previewUpload(
  sql: Sql,
  orgId: string,
  upload: Upload,
  hasHeader = upload.has_header,
) {
  const rows: CsvRow[] = [];
  for await (const row of readRows(sql, orgId, upload)) {
    rows.push(row);
    if (rows.length > rowsShown) break;
  }
  const [head] = rows;
  const shown = hasHeader ? rows.slice(1) : rows.slice(0, rowsShown);
  const widest = Math.max(...rows.map(({ cells }) => cells.length), 0);
  const names = Array.from({ length: widest }, (_, place) => {
    const name = hasHeader ? head?.cells[place]?.trim() : '';
    return name || `Column ${place + 1}`;
  });
  return { columns: guessColumnUses(names, shown), rows: shown };
}

const readRows = (sql: Sql, orgId: string, { id, delimiter, first_line }: Upload) =>
  csvRows(readChunks(sql, { orgId, uploadId: id }), { delimiter, firstLine: first_line });

/** Guesses uses by header. The email column must contain an address, and may have any header. */
function guessColumnUses(names: readonly string[], rows: readonly CsvRow[]): UploadColumn[] {
  const uses = names.map((name) => contactColumnOf(headerKey(name)) ?? 'property');
  const holds = (place: number) => rows.some(({ cells }) => isAddress(cells[place] ?? ''));
  const called = uses.findIndex((use, place) => use === 'email' && holds(place));
  const email = called >= 0 ? called : uses.findIndex((_, place) => holds(place));
  return names.map((name, place) => {
    const use = uses[place]!;
    if (place === email) return { name, use: 'email' };
    return { name, use: use === 'email' || uses.indexOf(use) < place ? 'property' : use };
  });
}
