import type { Context, MiddlewareHandler } from 'hono';
import type { Child, JSX } from 'hono/jsx';
import * as v from 'valibot';
import { Refusal, toSentence } from '../../errors.ts';
import { readFormData } from '../../lib/http/body.ts';
import { type IfMatch, isOutdated } from '../../lib/http/version.ts';
import { isInCalendar } from '../../lib/validation/parse.ts';

/** `form` gives a control what was typed and the mistake in it. */
type ControlProps = {
  name: string;
  label: string;
  form?: FormState | undefined;
  help?: Child;
  required?: boolean;
  /** When the same name stands in two forms of a page. */
  id?: string;
};

type FieldProps = ControlProps &
  Pick<JSX.IntrinsicElements['input'], 'type' | 'autocomplete' | 'maxlength' | 'min' | 'max'> &
  Pick<JSX.IntrinsicElements['input'], 'accept' | 'inputmode' | 'placeholder' | 'readonly'> & {
    /** What stands in it before anything was typed. */
    value?: string | number | null | undefined;
    /** With rows the field takes several lines. */
    rows?: number;
    /** How wide it is among filters. */
    size?: 'wide' | 'day';
  };

/** A labelled field with its help and its mistake. The first mistake of a form has the focus. */
export function Field(props: FieldProps) {
  const { name, label, form, help, rows, size, id = name, value, ...given } = props;
  const { error, attributes } = stateOf({ name, id, form, help });
  const typed = form?.typed[name];
  const shown = typeof typed === 'string' ? typed : (value ?? undefined);
  const isBlank = given.type === 'password' || given.type === 'file';
  return (
    <div class={size ? `field ${size}` : 'field'}>
      <label for={id}>{label}</label>
      {rows ? (
        <textarea id={id} name={name} rows={rows} {...given} {...attributes}>
          {shown}
        </textarea>
      ) : (
        <input id={id} name={name} {...given} {...attributes} value={isBlank ? undefined : shown} />
      )}
      <Remarks id={id} help={help} error={error} />
    </div>
  );
}

export type ControlOption = { value: string; text: Child; help?: Child };

type SelectProps = ControlProps & {
  options: readonly ControlOption[];
  value?: string | null | undefined;
  size?: 'wide' | 'day';
};

export function Select(props: SelectProps) {
  const { name, label, form, help, required, options, value, size, id = name } = props;
  const { error, attributes } = stateOf({ name, id, form, help });
  const chosen = form?.typed[name] ?? value;
  return (
    <div class={size ? `field ${size}` : 'field'}>
      <label for={id}>{label}</label>
      <select id={id} name={name} required={required} {...attributes}>
        {options.map((option) => (
          <option
            value={option.value === option.text ? undefined : option.value}
            selected={option.value === chosen}
          >
            {option.text}
          </option>
        ))}
      </select>
      <Remarks id={id} help={help} error={error} />
    </div>
  );
}

const timeZones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')];

/** A list of time zones, with the one that is set, by whatever name. */
export function TimeZoneSelect(props: Omit<SelectProps, 'options'>) {
  const set = props.form?.typed[props.name] ?? props.value;
  const names =
    typeof set === 'string' && !timeZones.includes(set) ? [set, ...timeZones] : timeZones;
  return <Select {...props} options={names.map((name) => ({ value: name, text: name }))} />;
}

type ChoiceProps = ControlProps & {
  options: readonly ControlOption[];
  /** What is chosen before anything was sent; with `several`, a list. */
  value?: string | readonly string[] | null | undefined;
  several?: boolean;
};

/** One of a few (radio buttons), or with `several` any of them (checkboxes), all in view. */
export function Choice(props: ChoiceProps) {
  const { name, label, form, help, options, value, several = false, id = name } = props;
  const { error, attributes } = stateOf({ name, id, form, help });
  const { autofocus, ...described } = attributes;
  const chosen = [form?.typed[name] ?? (form && hasTyped(form) ? [] : value) ?? []].flat();
  return (
    <fieldset aria-describedby={described['aria-describedby']}>
      <legend>{label}</legend>
      {options.map((option, at) => (
        <label class="tick">
          <input
            type={several ? 'checkbox' : 'radio'}
            name={name}
            value={option.value}
            checked={chosen.includes(option.value)}
            autofocus={at === 0 && autofocus}
            aria-invalid={described['aria-invalid']}
          />
          <span>
            {option.text}
            {option.help ? <span class="small soft block">{option.help}</span> : null}
          </span>
        </label>
      ))}
      <Remarks id={id} help={help} error={error} />
    </fieldset>
  );
}

type CheckboxProps = ControlProps & { checked?: boolean; value?: string };

/** A single checkbox. */
export function Checkbox(props: CheckboxProps) {
  const { name, label, form, help, checked = false, value = 'on', id = name } = props;
  const { error, attributes } = stateOf({ name, id, form, help });
  const isTicked = form && hasTyped(form) ? name in form.typed : checked;
  return (
    <div class="field">
      <label class="tick">
        <input
          type="checkbox"
          id={id}
          name={name}
          value={value}
          checked={isTicked}
          {...attributes}
        />
        <span>{label}</span>
      </label>
      <Remarks id={id} help={help} error={error} />
    </div>
  );
}

const hasTyped = (form: FormState) => Object.keys(form.errors).length > 0;

function stateOf({ name, id, form, help }: Omit<ControlProps, 'label'> & { id: string }) {
  const error = form?.errors[name];
  const describedBy = [error && `${id}-error`, help && `${id}-help`].filter(Boolean).join(' ');
  const isFirst = error !== undefined && Object.keys(form?.errors ?? {})[0] === name;
  return {
    error,
    attributes: {
      autofocus: isFirst || undefined,
      'aria-invalid': error === undefined ? undefined : ('true' as const),
      'aria-describedby': describedBy || undefined,
    },
  };
}

function Remarks({ id, help, error }: { id: string; help: Child; error: string | undefined }) {
  return (
    <>
      {error ? (
        <p class="mistake is-failed" id={`${id}-error`}>
          {error}
        </p>
      ) : null}
      {help ? (
        <p class="small soft" id={`${id}-help`}>
          {help}
        </p>
      ) : null}
    </>
  );
}

type LinkButtonProps = {
  href: string;
  rel?: string | undefined;
  target?: '_blank';
  download?: boolean;
  text: Child;
  /** Read aloud after the text, to tell apart the buttons of several rows. */
  about?: string | undefined;
  kind?: 'primary' | 'danger' | 'more' | undefined;
};

/** A link that looks like a button, or with `more` like a quiet link. */
export function LinkButton({ text, about, kind, ...attributes }: LinkButtonProps) {
  const look = kind === 'more' ? kind : `button${kind ? ` ${kind}` : ''}`;
  return (
    <a class={look} {...attributes}>
      {text}
      {about ? <span class="hidden"> {about}</span> : null}
    </a>
  );
}

type SubmitOrCancelProps = { button: Child; cancel: string; danger?: boolean };

export const SubmitOrCancel = ({ button, cancel, danger = false }: SubmitOrCancelProps) => (
  <div class="actions">
    <button type="submit" class={danger ? 'danger' : 'primary'}>
      {button}
    </button>
    <LinkButton href={cancel} text="Cancel" kind="more" />
  </div>
);

/** What was typed and what is wrong with it, each by the name of its field. */
export type FormState = {
  typed: Readonly<Record<string, string | string[]>>;
  errors: Readonly<Record<string, string>>;
};

type InvalidForm = FormState & { values?: never };

type FormFields = Record<string, string | string[] | File>;

/** A form that has not been sent yet, perhaps filled in with what is stored. */
export const emptyForm = (typed: FormState['typed'] = {}): FormState => ({ typed, errors: {} });

/** The status of a page with the form: 422 when the form has mistakes. */
export const statusOf = ({ errors }: FormState) => (Object.keys(errors).length > 0 ? 422 : 200);

/** The main button of a form. */
export const Submit = ({ children }: { children: Child }) => (
  <button type="submit" class="primary">
    {children}
  </button>
);

/** Checks a posted form: its values, or every mistake in it together with what was typed. `largest` is in bytes. */
export async function readForm<const S extends v.GenericSchema>(
  c: Context,
  schema: S,
  { largest }: { largest?: number } = {},
): Promise<{ values: v.InferOutput<S>; errors?: never } | InvalidForm> {
  const fields = await readFields(c, largest);
  const result = v.safeParse(schema, fields);
  if (result.success) return { values: result.output };
  return { errors: mistakes(result.issues), typed: typedIn(fields) };
}

/** A mistake that only the act found, such as a name that is taken. */
export async function withFieldError(
  c: Context,
  errors: FormState['errors'],
): Promise<InvalidForm> {
  return { errors, typed: typedIn(await readFields(c)) };
}

/** What is stored of the fields of a form, and its version. */
export type StoredForm = { version: string; fields: Readonly<Record<string, unknown>> };

/** Carries the version that a form for something stored was filled from. */
export const Version = ({ form, value }: { form: FormState; value: string | undefined }) =>
  value === undefined ? null : (
    <input type="hidden" name="version" value={form.typed['version'] ?? value} />
  );

/** The version that a posted form was filled from. */
export async function readVersion(c: Context): Promise<IfMatch> {
  const { version } = await readFields(c);
  return typeof version === 'string' ? [version] : undefined;
}

/**
 * The form after somebody else changed what it is about: every field that differs says what is stored, under what was
 * typed. Saved again, what was typed replaces that.
 */
export async function conflictErrors(
  c: Context,
  { version, fields }: StoredForm,
): Promise<InvalidForm> {
  const typed = typedIn(await readFields(c));
  const textOf = (value: unknown) => [value ?? []].flat().join('\n');
  const differing = Object.entries(fields).filter(
    ([name, value]) => textOf(value) !== textOf(typed[name]).trim(),
  );
  return {
    typed: { ...typed, version },
    errors: {
      '': 'Nothing was saved: somebody else changed this since you opened it. Fields that differ show what is saved now. Save again to replace that.',
      ...Object.fromEntries(
        differing.map(([name, value]) => [name, `Saved now: ${textOf(value) || 'nothing'}`]),
      ),
    },
  };
}

/**
 * Runs an act; a refusal that belongs to a field, by its code, is shown there, and a change that was made meanwhile
 * with what is stored.
 */
export async function tryAction<T>(
  c: Context,
  fields: Readonly<Record<string, string>>,
  act: () => Promise<T>,
  stored?: StoredForm,
) {
  try {
    return await act();
  } catch (error) {
    if (isOutdated(error) && stored) return await conflictErrors(c, stored);
    const field = error instanceof Refusal && fields[error.code];
    if (!field) throw error;
    return await withFieldError(c, { [field]: toSentence(error.message) });
  }
}

/** Reads a form before it is refused, so that the page of the refusal can send it again. */
export async function cachePostedForm(c: Context) {
  await readFields(c, maxMemberBytes).catch(() => undefined);
}

/** The fields to send again; none where one of them is a file or a secret, which no page sends back. */
export function fieldsToResend(c: Context): [name: string, value: string][] {
  const fields: FormFields = c.get('formFields') ?? {};
  const entries = Object.entries(fields);
  if (entries.some(([name, value]) => value instanceof File || secret.test(name))) return [];
  return Object.entries(typedIn(fields)).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
}

/** Checkboxes and lists of several: none, one or many values of the same name. */
export const listField = <const S extends v.GenericSchema<string, unknown>>(schema: S) =>
  v.optional(
    v.pipe(
      v.union([v.array(v.string()), v.string()]),
      v.transform((given) => (typeof given === 'string' ? [given] : given)),
      v.array(schema),
    ),
    [],
  );

/** A field of type `date`. */
export const Day = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d{2}-\d{2}$/, 'Must be a day'),
  v.check(isInCalendar, 'There is no such day'),
);

/** A checkbox: browsers send it only when it is checked. */
export const checkboxField = v.pipe(
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
const maxVisitorBytes = 64 * 1024;
/** A member may have typed a long text before the session ended. */
const maxMemberBytes = 1024 * 1024;

async function readFields(
  c: Context,
  largest = c.get('member') ? undefined : maxVisitorBytes,
): Promise<FormFields> {
  const read: FormFields | undefined = c.get('formFields');
  if (read) return read;
  const fields = gather(await readFormData(c, largest));
  c.set('formFields', fields);
  return fields;
}

/** Browsers send line ends as CRLF; Postgres stores no NUL. */
function gather(form: FormData): FormFields {
  const fields: FormFields = Object.create(null);
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name);
    const texts = values.filter((value) => typeof value === 'string').map(plain);
    const file = values.findLast((value) => value instanceof File);
    fields[name] = file ?? (texts.length === 1 ? texts[0]! : texts);
  }
  return fields;
}

/** In characters. A longer list is uploaded as a file, which is read in pieces. */
const longestText = 4 * 1024 * 1024;

function plain(text: string): string {
  if (text.length > longestText) {
    throw new Refusal('too_large', 'A text is too long to be pasted: upload it as a file.', {
      code: 'text_too_long',
    });
  }
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
    found[name] ??= describeIssue(issue);
  }
  return found;
}

/** valibot's own words for what is missing are not for readers. */
export const describeIssue = (issue: v.BaseIssue<unknown>): string =>
  issue.received === 'undefined' ? 'This is needed.' : toSentence(issue.message);

/** Refuses a form that another site made the reader's browser post. Cookies are secure if the public URL is https. */
export function guardForms(publicUrl: string): MiddlewareHandler {
  const { origin, protocol } = new URL(publicUrl);
  return async (c, next) => {
    c.set('isApp', true);
    c.set('isSecure', protocol === 'https:');
    const isRead = ['GET', 'HEAD', 'OPTIONS'].includes(c.req.method);
    if (!isRead && !isOwnForm(c, origin)) {
      throw new Refusal('forbidden', 'the form did not come from a page of this server', {
        code: 'forged_form',
      });
    }
    await next();
  };
}

/** Browsers send one of the two headers with every post; a program that sends neither holds no reader's cookie. */
function isOwnForm(c: Context, origin: string): boolean {
  const site = c.req.header('Sec-Fetch-Site');
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const given = c.req.header('Origin');
  return given === undefined || given === origin;
}
