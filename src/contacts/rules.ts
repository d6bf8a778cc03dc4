import { normalizeEmail } from '../lib/smtp/address.ts';
import { isPlainLine } from '../lib/validation/parse.ts';
import { isLongerThan, maxNameLength, maxPropertiesBytes, maxPropertiesDepth } from '../limits.ts';

export type Properties = Record<string, unknown>;

/** A valid contact; `key` is the address in lower case. */
export type CheckedContact = {
  email: string;
  key: string;
  name: string | null;
  properties: Properties;
};

/** Headers of the columns of a contact, in lower case without punctuation. Other columns become properties. */
export const contactHeaders = {
  email: words(
    'email emailaddress mail mailaddress personemail contactemail',
    'emailadresse mailadresse emailadres mailadres adresemail',
    'adresseemail adressemail courriel indirizzoemail postaelettronica',
    'correo correoelectrónico correoelectronico endereçodeemail correioeletrônico correioeletrónico',
    'メール メールアドレス eメール 電子メール البريدالإلكتروني البريدالالكتروني',
  ),
  name: words(
    'name fullname personname contactname',
    'vorundnachname vornamenachname vollständigername naam volledigenaam voorenachternaam',
    'nom nomcomplet prénometnom nometprénom nome nomecompleto nomeecognome',
    'nombre nombrecompleto nombreyapellidos nombreyapellido imięinazwisko imieinazwisko',
    '名前 お名前 氏名 الاسم الاسمالكامل',
  ),
  first_name: words(
    'firstname givenname forename fname personfirstname contactfirstname vorname prénom prenom',
    'nombredepila primernombre primonome primeironome nomepróprio nomeproprio voornaam imię imie',
    '名 下の名前 الاسمالأول الاسمالاول',
  ),
  last_name: words(
    'lastname surname familyname lname personlastname contactlastname nachname familienname',
    'nomdefamille apellido apellidos cognome sobrenome apelido achternaam nazwisko',
    '姓 苗字 名字 اسمالعائلة الاسمالأخير الاسمالاخير',
  ),
  language: words('language lang locale sprache taal langue lingua idioma język jezyk 言語 اللغة'),
};

function words(...lines: string[]): string[] {
  return lines.join(' ').split(' ');
}

export type ContactColumn = keyof typeof contactHeaders;
export const contactColumns = Object.keys(contactHeaders) as ContactColumn[];

/** Finds the column that the key of a header names. */
export const contactColumnOf = (headerKey: string) =>
  contactColumns.find((column) => contactHeaders[column].includes(headerKey));

/**
 * Checks the contact of a row. `text` returns the cell of a column, which is empty if there is none. A language is
 * stored as the property `language`.
 */
export function checkRow(text: (column: ContactColumn) => string, properties: Properties) {
  const language = text('language');
  return checkContact({
    email: text('email'),
    name: fullName({ name: text('name'), first: text('first_name'), last: text('last_name') }),
    properties: language === '' ? properties : { ...properties, language },
  });
}

/**
 * Joins the name of a row. If a row has a name column and one part, the name is the other part: "Name, Vorname" or
 * "Nome, Cognome".
 */
export function fullName(row: { name: string; first: string; last: string }): string {
  const name = joinLines(row.name);
  const first = joinLines(row.first);
  const last = joinLines(row.last);
  const isFull = (first === '') === (last === '') || name.includes(first || last);
  if (name !== '' && isFull) return name;
  const parts = [first || name, last || name].filter((part) => part !== '');
  // Japanese and Chinese names begin with the last name.
  return (parts.every((part) => eastAsian.test(part)) ? parts.reverse() : parts).join(' ');
}

const eastAsian = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー\s]+$/u;

/** The fields that a member, a program or a file sets. */
export const contactFields = ['email', 'name', 'properties'] as const;
type ContactField = (typeof contactFields)[number];

export type ContactError = { field: ContactField; complaint: string };

/**
 * Checks a contact from any source. An empty name and null properties count as missing. A complaint completes a
 * sentence that begins with the name of the field.
 */
export function checkContact({
  email,
  name,
  properties,
}: Partial<Record<ContactField, unknown>>): CheckedContact | ContactError {
  const address = typeof email === 'string' ? normalizeEmail(email) : undefined;
  if (address === undefined) return { field: 'email', complaint: 'is not an email address' };
  const ofName = validateName(name ?? '');
  if (ofName) return { field: 'name', complaint: ofName };
  const ofProperties = validateProperties(properties ?? {});
  if (ofProperties) return { field: 'properties', complaint: ofProperties };
  return {
    email: address,
    key: address.toLowerCase(),
    name: (typeof name === 'string' && name.trim()) || null,
    properties: (properties ?? {}) as Properties,
  };
}

/** Joins the lines of a spreadsheet cell, because a name has one line. */
export const joinLines = (cell: string) => cell.replace(/\s*[\r\n]\s*/g, ' ').trim();

export function describeRowError({ field, complaint }: ContactError, email: string | null) {
  if (field !== 'email') return `the ${field} ${complaint}`;
  return email ? `${JSON.stringify(email)} ${complaint}` : 'the email is missing';
}

export function validateName(name: unknown): string | undefined {
  if (typeof name !== 'string') return 'must be text';
  const trimmed = name.trim();
  if (isLongerThan(trimmed, maxNameLength)) return `must be at most ${maxNameLength} characters`;
  if (!isPlainLine(trimmed)) return 'must be one line without control characters';
  return undefined;
}

export function validateProperties(properties: unknown): string | undefined {
  if (!isObject(properties)) return 'must be an object';
  const unstorable = validateStorable(properties, maxPropertiesDepth);
  if (unstorable) return unstorable;
  if (Buffer.byteLength(JSON.stringify(properties)) > maxPropertiesBytes) {
    return `must be at most ${maxPropertiesBytes} bytes as JSON`;
  }
  return undefined;
}

const isObject = (value: unknown): value is Properties =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Checks the depth before recursing, so that deep nesting cannot exhaust the stack. */
function validateStorable(value: unknown, levels: number): string | undefined {
  if (typeof value === 'string') return validateText(value);
  if (typeof value === 'number' && !Number.isFinite(value))
    return 'must not contain NaN or Infinity';
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return `must be at most ${maxPropertiesDepth} levels deep`;
  for (const [name, inner] of Object.entries(value)) {
    if (name === '__proto__') return 'must not have a field named __proto__';
    const complaint = validateText(name) ?? validateStorable(inner, levels - 1);
    if (complaint) return complaint;
  }
  return undefined;
}

/** Postgres stores neither NUL nor lone surrogates. */
function validateText(text: string): string | undefined {
  if (text.includes('\u0000')) return 'must not contain the character NUL';
  return text.isWellFormed() ? undefined : 'must not contain lone surrogates';
}
