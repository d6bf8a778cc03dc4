import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { Refusal } from '../errors.ts';
import type { CsvRow } from '../lib/cli/csv-rows.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { lockForContacts } from '../surveys/lifecycle.ts';
import { type OrgSurvey, reopenSurvey } from '../surveys/queries.ts';
import { listErased } from './erased.queries.ts';
import { complainOfMerges } from './merge.ts';
import { type CheckedContact, checkContact, complaintOfLine } from './rules.ts';
import {
  addUploaded,
  endUpload,
  hasContacts,
  insertRejects,
  lockWaitingUpload,
  saveUploaded,
  type Upload,
  type UploadReject,
} from './upload.queries.ts';
import { rowsOf, type UploadColumn } from './upload.ts';

const savedAtOnce = 2000;
const longestShown = 200;

type Mapping = { columns: readonly UploadColumn[]; hasHeader: boolean };
type Line = { line: number; contact: CheckedContact };

/**
 * Takes over the contacts of an upload. A row without a usable address is left out and listed; of several rows with
 * one address the first counts. Doing it twice changes nothing.
 */
export async function importUpload(
  { db }: { db: Db },
  by: Writer,
  { upload, mapping }: { upload: Upload; mapping: Mapping },
) {
  if (!mapping.columns.some(({ use }) => use === 'email')) {
    throw new Refusal('invalid', 'choose the column that holds the addresses');
  }
  const survey = { orgId: by.orgId, surveyId: upload.survey_id };
  const which = { orgId: by.orgId, uploadId: upload.id };
  await inTransaction(db, async (tx) => {
    await lockForContacts(tx, survey);
    if (!(await lockWaitingUpload(tx, which))) return;
    const isFirstList = !(await hasContacts(tx, survey));
    const saving = createSaving(tx, { survey, which, isFirstList });
    const read = rowReader(mapping.columns);
    let skipped = mapping.hasHeader ? 1 : 0;
    for await (const rows of rowsOf(tx, by.orgId, upload)) {
      for (const row of rows.slice(skipped)) await saving.add(read(row));
      skipped = 0;
    }
    const counts = await saving.end();
    await endUpload(tx, which, counts);
    if (counts.added > 0) await reopenSurvey(tx, survey.orgId, survey.surveyId);
    const target = { kind: 'survey', id: survey.surveyId } as const;
    const { orgId, actor } = by;
    await recordAct(tx, { orgId, actor, act: 'contacts.imported', target, details: counts });
  });
}

type Which = { orgId: string; uploadId: string };

type Saving = {
  survey: OrgSurvey;
  which: Which;
  /** Whether the survey has had no contact: there is nothing to compare with. */
  isFirstList: boolean;
};

/** Saves contacts in batches; each address is kept once, so that memory stays flat. */
function createSaving(tx: Sql, { survey, which, isFirstList }: Saving) {
  const seen = new Set<string>();
  const counts = { added: 0, known: 0, repeated: 0 };
  let [lines, rejects]: [Line[], UploadReject[]] = [[], []];
  let saving = Promise.resolve();

  async function save(some: SomeLines) {
    const left = { ...some, lines: await leaveErasedOut(tx, survey.orgId, some) };
    const { taken, added } = await saveLines(tx, { survey, isFirstList }, left);
    counts.added += added;
    counts.known += taken - added;
    if (some.rejects.length > 0) await insertRejects(tx, which, some.rejects);
  }

  /** While a batch is saved the next one is read. */
  async function flush() {
    const some = { lines, rejects };
    [lines, rejects] = [[], []];
    await saving;
    saving = save(some);
    saving.catch(() => {}); // thrown to the next batch, or at the end
  }

  return {
    async add(read: ReadRow) {
      if ('reject' in read) rejects.push(read.reject);
      else if (seen.has(read.contact.key)) counts.repeated += 1;
      else {
        seen.add(read.contact.key);
        lines.push(read);
      }
      if (lines.length + rejects.length >= savedAtOnce) await flush();
    },
    async end() {
      await flush();
      await saving;
      return counts;
    },
  };
}

/** The address of a person who was erased is not kept among the rejects either. */
async function leaveErasedOut(tx: Sql, orgId: string, { lines, rejects }: SomeLines) {
  const keys = lines.map(({ contact }) => contact.key);
  const erased = await listErased(tx, orgId, keys);
  if (erased.size === 0) return lines;
  return lines.filter(({ line, contact }) => {
    const isErased = erased.has(contact.key);
    if (isErased) rejects.push({ line, value: '', reason: 'the person was erased' });
    return !isErased;
  });
}

type SomeLines = { lines: Line[]; rejects: UploadReject[] };

/** The first list of a survey needs no comparison, unless another transaction adds one of its addresses meanwhile. */
async function saveLines(
  tx: Sql,
  { survey, isFirstList }: Pick<Saving, 'survey' | 'isFirstList'>,
  some: SomeLines,
) {
  const all = some.lines.map(({ contact }) => contact);
  const newlyAdded = isFirstList && all.length > 0 ? await addUploaded(tx, survey, all) : 0;
  if (newlyAdded === all.length) return { taken: all.length, added: newlyAdded };
  const contacts = await refuseOverfull(tx, survey, some);
  const added = contacts.length > 0 ? await saveUploaded(tx, survey, contacts) : 0;
  return { taken: contacts.length, added: newlyAdded + added };
}

/** A contact whose properties would grow too large with those it has is left out. */
async function refuseOverfull(tx: Sql, survey: OrgSurvey, { lines, rejects }: SomeLines) {
  const contacts = lines.map(({ contact }) => contact);
  const complaints = await complainOfMerges(tx, survey, contacts);
  if (complaints.size === 0) return contacts;
  return lines.flatMap(({ line, contact }) => {
    const complaint = complaints.get(contact.key);
    if (!complaint) return [contact];
    rejects.push({ line, value: contact.email, reason: `the properties ${complaint}` });
    return [];
  });
}

type ReadRow = Line | { reject: UploadReject };

/** Reads rows by the columns that were chosen: of several for an address or a name the first that is filled. */
function rowReader(columns: readonly UploadColumn[]) {
  const placesOf = (use: UploadColumn['use']) =>
    columns.flatMap((column, place) => (column.use === use ? [place] : []));
  const [emails, names, others] = [placesOf('email'), placesOf('name'), placesOf('property')];

  return ({ line, cells }: CsvRow): ReadRow => {
    const cell = (place: number) => cells[place]?.trim() ?? '';
    const first = (places: readonly number[]) => {
      for (const place of places) if (cell(place) !== '') return cell(place);
      return '';
    };
    const filled = others.filter((place) => cell(place) !== '');
    const properties = Object.fromEntries(
      filled.map((place) => [columns[place]!.name, cell(place)]),
    );
    const email = first(emails);
    const checked = checkContact({ email, name: first(names), properties });
    if (!('complaint' in checked)) return { line, contact: checked };
    const reason = complaintOfLine(checked, email === '' ? null : email);
    return { reject: { line, value: email.slice(0, longestShown), reason } };
  };
}
