import type { Context } from 'hono';
import * as v from 'valibot';
import { notFound, Refusal } from '../../errors.ts';
import { lazy } from '../async/memoize.ts';

const maxComplaints = 5;

/** Validates input. The refusal lists the first error of each field. */
export function parse<const S extends v.GenericSchema>(
  schema: S,
  input: unknown,
  nameOf: NameOf = v.getDotPath,
): v.InferOutput<S> {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  const issues = result.issues.flatMap(exactIssues);
  const firsts = Map.groupBy(issues, (issue) => nameOf(issue) ?? '').values();
  const sentences = [...firsts].map(([first]) => complaint(first!, nameOf));
  const more = sentences.length - maxComplaints;
  const shown = sentences.slice(0, maxComplaints).join('; ');
  throw new Refusal('invalid', more > 0 ? `${shown}; and ${more} more` : shown);
}

/** Returns a union's errors in fields that the input has, or else the error of the union as a whole. */
function exactIssues(issue: v.BaseIssue<unknown>): v.BaseIssue<unknown>[] {
  const inside = (issue.type === 'union' ? (issue.issues ?? []) : []).filter(
    ({ path, expected, received }) =>
      path && expected !== 'never' && (path.length > 1 || received !== 'undefined'),
  );
  if (inside.length === 0) return [issue];
  const above = issue.path ?? [];
  return inside.map((each) => ({ ...each, path: [...above, ...each.path!] as typeof issue.path }));
}

type NameOf = (issue: v.BaseIssue<unknown>) => string | null;

const TrueOrFalse = v.picklist(['true', 'false'], 'must be true or false');

export const BooleanParameter = v.pipe(
  TrueOrFalse,
  v.transform((word) => word === 'true'),
);

/** Validates query parameters. Repeated booleans are refused. Lists get all values, other parameters the first. */
export function parseQuery<const E extends v.ObjectEntries>(
  schema: v.ObjectSchema<E, undefined>,
  queries: Record<string, string[]>,
): v.InferOutput<v.ObjectSchema<E, undefined>> {
  for (const [name, entry] of Object.entries(schema.entries)) {
    if ((queries[name]?.length ?? 0) > 1 && isBoolean(entry)) {
      throw new Refusal('invalid', `${name}: must not be repeated`);
    }
  }
  const parameters = Object.entries(queries).map(([name, values]) => [
    name,
    isList(schema.entries[name]) ? values : values[0],
  ]);
  return parse(schema, Object.fromEntries(parameters), parameterOf);
}

/** `tag` instead of `tag.1`. */
const parameterOf: NameOf = ({ path }) => String(path?.[0]?.key);

/**
 * Validates query parameters of a write. Unknown ones are ignored, but misspelt ones are refused: `?dryrun=true` must
 * not send emails.
 */
export function parseWriteQuery<const E extends v.ObjectEntries>(
  schema: v.ObjectSchema<E, undefined>,
  queries: Record<string, string[]>,
): v.InferOutput<v.ObjectSchema<E, undefined>> {
  for (const word of Object.keys(queries)) {
    const name = parameterLike(schema, word);
    if (name === undefined || name === word) continue;
    throw new Refusal('invalid', `${oneLine(word)} is not a parameter: did you mean ${name}?`);
  }
  return parseQuery(schema, queries);
}

export type QuerySchema = v.ObjectSchema<v.ObjectEntries, undefined>;

/** Refuses query parameters in the body: `{"dry_run": true}` must not send emails. */
export function refuseParameters(schema: QuerySchema, fields: readonly string[]) {
  for (const word of fields) {
    const name = parameterLike(schema, word);
    if (name === undefined) continue;
    const instead = `send it in the URL, as ?${name}=`;
    throw new Refusal('invalid', `${oneLine(word)} is not a field: ${instead}`);
  }
}

const parameterLike = (schema: QuerySchema, word: string) =>
  Object.keys(schema.entries).find((name) => lettersOf(name) === lettersOf(word));

const lettersOf = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

const isBoolean = (schema: unknown) => unwrap(schema) === TrueOrFalse;
const isList = (schema: unknown) =>
  schema !== undefined && (unwrap(schema) as { type?: unknown }).type === 'array';

/** Removes `optional` and `description`. */
function unwrap(schema: unknown): unknown {
  const { wrapped, pipe } = schema as { wrapped?: unknown; pipe?: unknown[] };
  if (pipe && pipe[0] !== schema) return unwrap(pipe[0]);
  return wrapped === undefined ? schema : unwrap(wrapped);
}

/** Names the field and replaces valibot's message for a missing value. */
export function complaint(issue: v.BaseIssue<unknown>, nameOf: NameOf = v.getDotPath): string {
  const where = nameOf(issue) ?? 'the body';
  return issue.received === 'undefined' ? `${where} is required` : `${where}: ${issue.message}`;
}

export const Uuid = v.pipe(v.string('must be a UUID'), v.uuid('must be a UUID'));

export const isUuid = (text: string) => v.is(Uuid, text);

/** Reads an id from the path. 404 if it is not a UUID. */
export function idParam(c: Context, what: string, name = 'id'): string {
  const id = c.req.param(name) ?? '';
  if (!isUuid(id)) throw notFound(what);
  return id;
}

/** True for text that is safe in headers, pages and terminals. */
export const isPlainLine = (text: string) => text.isWellFormed() && !unwanted.test(text);

// Control characters, line separators, noncharacters and direction overrides. Persian and emoji need joiners.
const unwanted = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]/u;
const everyUnwanted = new RegExp(unwanted.source, 'gu');

/** Text that is not empty, without spaces around it. */
export const Text = (maxLength: number) =>
  v.pipe(
    v.string('must be text'),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.check((text) => [...text].length <= maxLength, `must be at most ${maxLength} characters`),
    v.metadata({ maxLength }),
  );

/** One line of text without control characters, safe for email headers. */
export const Line = (maxLength: number) =>
  v.pipe(Text(maxLength), v.check(isPlainLine, 'must be one line without control characters'));

export const WholeNumber = (lowest: number, highest: number) => {
  const message = `must be a whole number from ${lowest} to ${highest}`;
  return v.pipe(
    v.number(message),
    v.integer(message),
    v.minValue(lowest, message),
    v.maxValue(highest, message),
  );
};

/** Makes text safe for headers: characters that `isPlainLine` refuses become spaces. */
export const oneLine = (text: string) =>
  text.toWellFormed().replace(everyUnwanted, ' ').replace(/\s+/g, ' ').trim();

const maxNesting = 64;

/** Parses untrusted JSON. Refuses NUL, unpaired surrogates, the key `__proto__` and deep nesting. */
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

/** Extracts only the position, because the message of V8 may quote personal data. */
function whereIn({ message }: Error): string {
  if (message.startsWith('Unexpected end')) return ', it ends too early';
  const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(message) ?? [];
  return line ? `, at line ${line} column ${column}` : '';
}

function checkValue(value: unknown, depth: number) {
  if (typeof value === 'string') return checkText(value);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= maxNesting) throw refuse(`is nested more than ${maxNesting} levels deep`);
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
  if (text.includes('\0')) throw refuse('contains a NUL character, which cannot be stored');
  if (!text.isWellFormed()) throw refuse('contains an unpaired surrogate');
}

const refuse = (what: string) =>
  new Refusal('invalid', `the body ${what}`, { code: 'invalid_text' });

const names = lazy(() => new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }));

/**
 * True for a tag such as `en` or `pt-BR`, and false for a well-formed word such as `english`. `Intl` has names for all
 * two-letter codes, but only for some three-letter codes.
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
 * True for an ISO 8601 day or time that exists, unlike 30 February. Years are 1 to 9999, the range that Postgres and
 * `Date` share, minus a day for calculations.
 */
export function isInCalendar(text: string): boolean {
  const day = dayForm.exec(text)?.[0];
  const ms = Date.parse(text);
  if (day === undefined || !(ms >= firstMs && ms <= lastMs)) return false;
  return new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) ?? false;
}

/** True for time zone names and offsets of JavaScript. Postgres reads the sign of an offset the other way round. */
export function isTimeZone(name: string): boolean {
  // Creating a format is slower than all other checks of a request.
  if (name === 'UTC') return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Excludes offsets, which Postgres reads differently. */
export const isTimeZoneName = (name: string) => /^[A-Za-z]/.test(name) && isTimeZone(name);
