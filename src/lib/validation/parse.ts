import type { Context } from 'hono';
import * as v from 'valibot';
import { notFound, Refusal } from '../../errors.ts';
import { lazy } from '../async/memoize.ts';

const maxComplaints = 5;

/** Checks input from outside. The caller sees every mistake in one sentence, the first of each field. */
export function parse<const S extends v.GenericSchema>(
  schema: S,
  input: unknown,
  nameOf: NameOf = v.getDotPath,
): v.InferOutput<S> {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  const firsts = Map.groupBy(result.issues, (issue) => nameOf(issue) ?? '').values();
  const sentences = [...firsts].map(([first]) => complaint(first!, nameOf));
  const more = sentences.length - maxComplaints;
  const shown = sentences.slice(0, maxComplaints).join('; ');
  throw new Refusal('invalid', more > 0 ? `${shown}; and ${more} more` : shown);
}

type NameOf = (issue: v.BaseIssue<unknown>) => string | null;

const TrueOrFalse = v.picklist(['true', 'false'], 'must be true or false');

/** A boolean parameter of a query: `true` or `false`, and nothing that only looks like one of them. */
export const BooleanParameter = v.pipe(
  TrueOrFalse,
  v.transform((word) => word === 'true'),
);

/**
 * Checks the parameters of a query. A boolean that is given twice is refused, because either value could
 * be the intended one. A list has all values of its parameter; of any other parameter the first value counts.
 */
export function parseQuery<const E extends v.ObjectEntries>(
  schema: v.ObjectSchema<E, undefined>,
  queries: Record<string, string[]>,
): v.InferOutput<v.ObjectSchema<E, undefined>> {
  for (const [name, entry] of Object.entries(schema.entries)) {
    if ((queries[name]?.length ?? 0) > 1 && isBoolean(entry)) {
      throw new Refusal('invalid', `${name}: must be given once`);
    }
  }
  const parameters = Object.entries(queries).map(([name, values]) => [
    name,
    isList(schema.entries[name]) ? values : values[0],
  ]);
  return parse(schema, Object.fromEntries(parameters), parameterOf);
}

/** Callers write `tag=a&tag=b`, and know no `tag.1`. */
const parameterOf: NameOf = ({ path }) => String(path?.[0]?.key);

/**
 * Checks the parameters of a request that writes. Unknown ones are ignored, but a near miss of a parameter is refused:
 * `?dryrun=true` must not send mails.
 */
export function parseWriteQuery<const E extends v.ObjectEntries>(
  schema: v.ObjectSchema<E, undefined>,
  queries: Record<string, string[]>,
): v.InferOutput<v.ObjectSchema<E, undefined>> {
  for (const word of Object.keys(queries)) {
    const name = parameterLike(schema, word);
    if (name === undefined || name === word) continue;
    throw new Refusal('invalid', `${oneLine(word)} is no parameter here: write ${name}`);
  }
  return parseQuery(schema, queries);
}

export type QuerySchema = v.ObjectSchema<v.ObjectEntries, undefined>;

/** Refuses fields of a body that are parameters of its address: `{"dry_run": true}` must not send mails. */
export function refuseParameters(schema: QuerySchema, fields: readonly string[]) {
  for (const word of fields) {
    const name = parameterLike(schema, word);
    if (name === undefined) continue;
    const instead = `write it in the address, as ?${name}=`;
    throw new Refusal('invalid', `${oneLine(word)} is no field here: ${instead}`);
  }
}

const parameterLike = (schema: QuerySchema, word: string) =>
  Object.keys(schema.entries).find((name) => lettersOf(name) === lettersOf(word));

const lettersOf = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

const isBoolean = (schema: unknown) => innermost(schema) === TrueOrFalse;
const isList = (schema: unknown) =>
  schema !== undefined && (innermost(schema) as { type?: unknown }).type === 'array';

/** Unwraps `optional` and `description`. */
function innermost(schema: unknown): unknown {
  const { wrapped, pipe } = schema as { wrapped?: unknown; pipe?: unknown[] };
  if (pipe && pipe[0] !== schema) return innermost(pipe[0]);
  return wrapped === undefined ? schema : innermost(wrapped);
}

/** One sentence that names the value. valibot's own words for a missing key are not for callers. */
export function complaint(issue: v.BaseIssue<unknown>, nameOf: NameOf = v.getDotPath): string {
  const where = nameOf(issue) ?? 'the body';
  return issue.received === 'undefined' ? `${where} is required` : `${where}: ${issue.message}`;
}

export const Uuid = v.pipe(v.string(), v.uuid('must be a UUID'));

export const isUuid = (text: string) => v.is(Uuid, text);

/** The id in the path. One that is not a UUID is not found, like one of another organization. */
export function idParam(c: Context, what: string, name = 'id'): string {
  const id = c.req.param(name) ?? '';
  if (!isUuid(id)) throw notFound(what);
  return id;
}

/** A line that may stand in a header, on a page and in a terminal. */
export const isPlainLine = (text: string) => text.isWellFormed() && !unwanted.test(text);

// Controls, line separators, noncharacters, and the marks that override the direction of text around
// them. Joiners stay: Persian and emoji need them.
const unwanted = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]/u;
const everyUnwanted = new RegExp(unwanted.source, 'gu');

/** Any text as one line fit for a header: what `isPlainLine` refuses becomes a space. */
export const oneLine = (text: string) =>
  text.toWellFormed().replace(everyUnwanted, ' ').replace(/\s+/g, ' ').trim();

const maxNesting = 64;

/**
 * JSON from outside, as a value that can be handled and stored without surprise: strings that are text
 * (Postgres refuses NUL, and half a surrogate pair would be stored as something else), no key that means
 * more than itself to JavaScript, and not nested deeper than anybody means.
 */
export function parseJson(
  text: string,
  complaint = (where: string) => `the body is not JSON${where}`,
): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const where = text.trim() === '' ? ', but empty' : whereIn(error as Error);
    throw new Refusal('invalid', complaint(where), { code: 'invalid_json' });
  }
  checkValue(value, 0);
  return value;
}

/** The engine's complaint may quote what was sent, such as an address: only its place is taken. */
function whereIn({ message }: Error): string {
  if (message.startsWith('Unexpected end')) return ', it ends too early';
  const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(message) ?? [];
  return line ? `, at line ${line} column ${column}` : '';
}

function checkValue(value: unknown, depth: number) {
  if (typeof value === 'string') return checkText(value);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= maxNesting) throw refuse(`is nested deeper than ${maxNesting} levels`);
  if (Array.isArray(value)) {
    for (const item of value) checkValue(item, depth + 1);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') throw refuse('has a field named __proto__, which is not allowed');
    checkText(key);
    checkValue(item, depth + 1);
  }
}

function checkText(text: string) {
  if (text.includes('\0')) throw refuse('contains the character NUL, which cannot be stored');
  if (!text.isWellFormed()) throw refuse('contains half a surrogate pair, which is no character');
}

const refuse = (what: string) =>
  new Refusal('invalid', `the body ${what}`, { code: 'invalid_text' });

const names = lazy(() => new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }));

/**
 * True for a tag such as `en` or `pt-BR`. `english` is well-formed, but no language has this code; `en-u-ca-buddhist`
 * has no name that could be shown. All codes of two letters have names, of three letters some.
 */
export function isLanguage(tag: string): boolean {
  try {
    const { language } = new Intl.Locale(tag);
    if (language.length > 3 || language === 'und') return false;
    return (names().of(tag) ?? names().of(language)) !== undefined || language.length === 3;
  } catch {
    return false;
  }
}

const dayForm = /^\d{4}-\d\d-\d\d/;
const dayMs = 24 * 60 * 60 * 1000;
const firstMs = Date.parse('0001-01-01T00:00:00Z') + dayMs;
const lastMs = Date.parse('9999-12-31T00:00:00Z') - dayMs;

/**
 * True for an ISO 8601 day, or time with its zone, that exists: the 30th of February does not. Postgres knows no year 0
 * and `Date` no year 10000, also after a day is added or taken away.
 */
export function isInCalendar(text: string): boolean {
  const day = dayForm.exec(text)?.[0];
  const ms = Date.parse(text);
  if (day === undefined || !(ms >= firstMs && ms <= lastMs)) return false;
  return new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) ?? false;
}

/** True for a time zone of JavaScript, which includes offsets: to Postgres `+02:00` is in the west. */
export function isTimeZone(name: string): boolean {
  // A format takes longer to make than all other checks of a request.
  if (name === 'UTC') return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Postgres reads the name of a time zone as JavaScript does, an offset it does not. */
export const isTimeZoneName = (name: string) => /^[A-Za-z]/.test(name) && isTimeZone(name);
