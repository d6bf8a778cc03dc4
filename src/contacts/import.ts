import {
  type BadLine,
  type CsvRecord,
  field,
  headerKey,
  readCsv,
  refuseBadLines,
} from '../lib/cli/csv.ts';
import type { Db } from '../lib/db/db.ts';
import { holdForContacts, reopenForContact } from '../surveys/reopen.ts';
import { saveContacts } from './many.ts';

const contactsAtOnce = 1000;
const longestName = 200;
const emailColumns = ['email', 'emailaddress', 'personemail', 'mail'];
const nameColumns = ['name', 'fullname', 'personname'];

type ImportTools = {
  db: Db;
  /** The form an address is kept in; none for what cannot be mailed. */
  addressOf: (text: string) => string | undefined;
  onProgress: (done: number, total: number) => void;
};
type Where = { orgId: string; surveyId: string };
type Contact = { email: string; name: string | null; properties: Record<string, string> };

/** Takes over the contacts of a CSV file, all or none. Columns beside email and name become properties. */
export async function importContacts(tools: ImportTools, where: Where, text: string) {
  const contacts = readContacts(text, tools.addressOf);
  return await tools.db.begin(async (tx) => {
    await holdForContacts(tx, where.orgId, where.surveyId);
    let added = false;
    for (let done = 0; done < contacts.length; done += contactsAtOnce) {
      const some = contacts.slice(done, done + contactsAtOnce);
      const saved = await saveContacts(tx, where, some);
      added ||= saved.some((contact) => contact.added);
      tools.onProgress(done + some.length, contacts.length);
    }
    if (added) await reopenForContact(tx, where.orgId, where.surveyId);
    return { contacts: contacts.length };
  });
}

/** Of several lines with one address the later ones add to the first, as posting them would. */
export function readContacts(text: string, addressOf: ImportTools['addressOf']): Contact[] {
  const { headers, records } = readCsv(text);
  const bad: BadLine[] = [];
  if (!headers.some((name) => emailColumns.includes(headerKey(name)))) {
    bad.push({ line: 1, complaint: 'the header row has no column named email' });
  }
  const byAddress = new Map<string, Contact>();
  for (const record of bad.length > 0 ? [] : records) {
    const contact = readContact(record, headers);
    const email = addressOf(contact.email);
    const complaint = complaintOf(contact, email);
    if (complaint) bad.push({ line: record.line, complaint });
    else if (email) merge(byAddress, { ...contact, email });
  }
  refuseBadLines(bad);
  return [...byAddress.values()];
}

function readContact(record: CsvRecord, headers: readonly string[]): Contact {
  const properties: Record<string, string> = {};
  for (const header of headers) {
    const key = headerKey(header);
    const value = field(record, key);
    if (value && !emailColumns.includes(key) && !nameColumns.includes(key)) {
      properties[header.trim()] = value;
    }
  }
  const email = field(record, ...emailColumns) ?? '';
  return { email, name: field(record, ...nameColumns), properties };
}

function complaintOf({ email, name }: Contact, address: string | undefined) {
  if (!email) return 'the email is missing';
  if (!address) return `${JSON.stringify(email)} is not an email address`;
  if (name && name.length > longestName) return `the name has more than ${longestName} characters`;
  return null;
}

function merge(byAddress: Map<string, Contact>, contact: Contact) {
  const key = contact.email.toLowerCase();
  const earlier = byAddress.get(key);
  byAddress.set(key, {
    email: earlier?.email ?? contact.email,
    name: contact.name ?? earlier?.name ?? null,
    properties: { ...earlier?.properties, ...contact.properties },
  });
}
