import { recordAct, type Writer } from '../audit/acts.ts';
import { Refusal } from '../errors.ts';
import { type BadLine, field, missingColumn, readCsv, refuseBadLines } from '../lib/cli/csv.ts';
import { type Db, inRetriedTransaction, type Sql } from '../lib/db/db.ts';
import { lockForContacts } from '../surveys/lifecycle.ts';
import { type OrgSurvey, reopenSurvey } from '../surveys/queries.ts';
import { listErased } from './erase.ts';
import { saveContacts } from './queries.ts';
import {
  type CheckedContact,
  type ContactColumn,
  checkRow,
  contactColumnOf,
  contactFields,
  contactHeaders,
  describeRowError,
  validateProperties,
} from './rules.ts';
import { validateMerges } from './save.ts';

const contactsPerBatch = 1000;

type ImportTools = { db: Db; onProgress: (done: number, total: number) => void };

/**
 * Imports the contacts of a CSV file, all or none. Columns other than email and name become properties. Erased people
 * are skipped and counted.
 */
export async function importContacts(
  tools: ImportTools,
  writer: Writer & { surveyId: string },
  text: string,
) {
  const imported = await readContacts(text);
  // Sorted by address, so that two imports of the same people do not deadlock.
  imported.sort((one, other) => (one.key < other.key ? -1 : 1));
  return await inRetriedTransaction(tools.db, async (tx) => {
    await lockForContacts(tx, writer);
    const erased = await listErased(
      tx,
      writer.orgId,
      imported.map(({ key }) => key),
    );
    const contacts = imported.filter(({ key }) => !erased.has(key));
    await refuseOverfull(tx, writer, contacts);
    let added = false;
    for (let done = 0; done < contacts.length; done += contactsPerBatch) {
      const batch = contacts.slice(done, done + contactsPerBatch);
      const saved = await saveContacts(tx, writer, batch);
      added ||= saved.some((contact) => contact.added);
      tools.onProgress(done + batch.length, contacts.length);
    }
    if (added) await reopenSurvey(tx, writer.orgId, writer.surveyId);
    const target = { kind: 'survey', id: writer.surveyId };
    const details = { contacts: contacts.length };
    await recordAct(tx, { ...writer, act: 'contacts.imported', target, details });
    return { contacts: contacts.length, erased: erased.size };
  });
}

async function refuseOverfull(tx: Sql, survey: OrgSurvey, contacts: readonly CheckedContact[]) {
  const complaints = await validateMerges(tx, survey, contacts);
  for (const [key, complaint] of complaints) {
    throw new Refusal('invalid', `nothing was imported: the properties of ${key} ${complaint}`);
  }
}

/** Merges rows with the same address in file order, as posting them one by one would. */
export async function readContacts(text: string): Promise<CheckedContact[]> {
  const { columns, records } = await readCsv(text);
  const bad: BadLine[] = [];
  if (!columns.some(({ key }) => contactColumnOf(key) === 'email')) {
    bad.push({ line: 1, complaint: missingColumn(columns, 'email') });
  }
  const others = columns.filter(({ key }) => !contactColumnOf(key));
  const byAddress = new Map<string, CheckedContact>();
  for (const record of bad.length > 0 ? [] : records) {
    const text = (column: ContactColumn) => field(record, ...contactHeaders[column]) ?? '';
    const properties = others.flatMap(({ name, key }) => {
      const value = field(record, key);
      return value ? [[name, value]] : [];
    });
    const checked = checkRow(text, Object.fromEntries(properties));
    const complaint =
      'complaint' in checked ? describeRowError(checked, text('email')) : merge(byAddress, checked);
    if (complaint) bad.push({ line: record.line, complaint });
  }
  refuseBadLines(bad);
  return [...byAddress.values()];
}

/** Merges a row into the earlier rows of its address. Returns the error if their properties grow too large. */
function merge(byAddress: Map<string, CheckedContact>, contact: CheckedContact) {
  const { key } = contact;
  const earlier = byAddress.get(key);
  const properties = { ...earlier?.properties, ...contact.properties };
  const { email } = earlier ?? contact;
  const fields = Object.fromEntries(
    contactFields.map((name) => [name, contact[name] ?? earlier?.[name] ?? null]),
  );
  byAddress.set(key, { ...contact, ...fields, email, properties });
  const complaint = earlier && validateProperties(properties);
  return complaint && `the properties of all lines of ${email} ${complaint}`;
}
