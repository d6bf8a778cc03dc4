import type { Context } from 'hono';
import * as v from 'valibot';
import { Refusal } from '../../errors.ts';
import { readFormData } from '../../lib/http/form-data.ts';

/** What was typed and what is wrong with it, each by the name of its field. */
export type FormState = {
  typed: Readonly<Record<string, string | string[]>>;
  errors: Readonly<Record<string, string>>;
};

export type FormMistakes = FormState & { values?: never };
export type FormValues<T> = { values: T; errors?: never };

type FormFields = Record<string, string | string[] | File>;

/** A form that has not been sent yet, perhaps filled in with what is stored. */
export const emptyForm = (typed: FormState['typed'] = {}): FormState => ({ typed, errors: {} });

/**
 * A form that was posted, checked: its values, or every mistake in it together with what was typed. `largest`
 * is how many bytes it may have, where a file is sent with it.
 */
export async function readForm<const S extends v.GenericSchema>(
  c: Context,
  schema: S,
  { largest }: { largest?: number } = {},
): Promise<FormValues<v.InferOutput<S>> | FormMistakes> {
  const fields = await readFields(c, largest);
  const result = v.safeParse(schema, fields);
  if (result.success) return { values: result.output };
  return { errors: mistakes(result.issues), typed: typedIn(fields) };
}

/** A mistake that only the act found, such as a name that is taken. */
export async function withMistake(c: Context, errors: FormState['errors']): Promise<FormMistakes> {
  return { errors, typed: typedIn(await readFields(c)) };
}

/** Reads a form before it is refused, so that the page of the refusal can send it again. */
export async function keepPosted(c: Context) {
  await readFields(c, largestKept).catch(() => undefined);
}

/** The fields to send again; none where one of them is a file or a secret, which no page sends back. */
export function postedAgain(c: Context): (readonly [name: string, value: string])[] {
  const fields: FormFields = c.get('formFields') ?? {};
  const entries = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, value] as const),
  );
  const isRepeatable = (entry: (typeof entries)[number]): entry is readonly [string, string] =>
    typeof entry[1] === 'string' && !secret.test(entry[0]);
  return entries.every(isRepeatable) ? entries : [];
}

/** Checkboxes and lists of several: none, one or many values of the same name. */
export const severalOf = <const S extends v.GenericSchema<string, unknown>>(schema: S) =>
  v.optional(
    v.pipe(
      v.union([v.array(v.string()), v.string()]),
      v.transform((given) => (typeof given === 'string' ? [given] : given)),
      v.array(schema),
    ),
    [],
  );

/** A checkbox: sent when it is ticked. */
export const ticked = v.pipe(
  v.optional(v.string()),
  v.transform((given) => given !== undefined),
);

/** Text that may be left out: an empty field is null. */
export const optionalText = <const S extends v.GenericSchema<string, unknown>>(schema: S) =>
  v.pipe(
    v.optional(v.string(), ''),
    v.trim(),
    v.transform((given) => (given === '' ? null : given)),
    v.nullable(schema),
  );

/** What visitors type is short: an address, a password, the answer of a passkey. */
const largestOfVisitor = 64 * 1024;
/** What a member typed before the session ended may be long. */
const largestKept = 1024 * 1024;

async function readFields(
  c: Context,
  largest = c.get('member') ? undefined : largestOfVisitor,
): Promise<FormFields> {
  const known: FormFields | undefined = c.get('formFields');
  if (known) return known;
  const fields = gather(await readFormData(c, largest));
  c.set('formFields', fields);
  return fields;
}

/** Browsers send line ends as CRLF; Postgres stores no NUL. */
function gather(form: FormData): FormFields {
  const fields: FormFields = Object.create(null);
  for (const [name, given] of form) {
    if (typeof given !== 'string') {
      fields[name] = given;
      continue;
    }
    const value = plain(given);
    const before = fields[name];
    if (typeof before === 'string') fields[name] = [before, value];
    else if (Array.isArray(before)) before.push(value);
    else fields[name] = value;
  }
  return fields;
}

function plain(text: string): string {
  if (text.includes('\0')) throw new Refusal('invalid', 'The form holds a character NUL.');
  return text.toWellFormed().replaceAll('\r\n', '\n');
}

/** A secret is typed again rather than sent back. */
const secret = /password|secret|code|token/i;

function typedIn(fields: FormFields): FormState['typed'] {
  const texts = Object.entries(fields).filter(
    (entry): entry is [string, string | string[]] => !(entry[1] instanceof File),
  );
  return Object.fromEntries(texts.filter(([name]) => !secret.test(name)));
}

function mistakes(issues: readonly v.BaseIssue<unknown>[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const issue of issues) {
    const key = issue.path?.[0]?.key;
    const name = typeof key === 'string' ? key : '';
    found[name] ??= sentence(issue);
  }
  return found;
}

/** valibot's own words for what is missing are not for readers. */
function sentence(issue: v.BaseIssue<unknown>): string {
  if (issue.received === 'undefined') return 'This is needed.';
  const text = issue.message.charAt(0).toUpperCase() + issue.message.slice(1);
  return /[.?!]$/.test(text) ? text : `${text}.`;
}
