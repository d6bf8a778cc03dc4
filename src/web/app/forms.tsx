import type { Context, MiddlewareHandler } from 'hono';
import type { Child, JSX } from 'hono/jsx';
import * as v from 'valibot';
import { Refusal, toSentence } from '../../errors.ts';
import { readFormData } from '../../lib/http/body.ts';
import { type IfMatch, isOutdated } from '../../lib/http/version.ts';
import { isInCalendar } from '../../lib/validation/parse.ts';
import { Icon, type IconName } from './icon.tsx';

type ControlProps = {
  name: string;
  label: string;
  /** The submitted value and its error. */
  form?: FormState | undefined;
  help?: Child;
  required?: boolean;
  /** Set this when two forms on a page have a field with the same name. */
  id?: string;
};

type FieldProps = ControlProps &
  Pick<JSX.IntrinsicElements['input'], 'type' | 'autocomplete' | 'maxlength' | 'min' | 'max'> &
  Pick<
    JSX.IntrinsicElements['input'],
    'accept' | 'inputmode' | 'list' | 'placeholder' | 'readonly' | 'multiple'
  > & {
    /** The key that focuses the field. */
    'aria-keyshortcuts'?: string;
    value?: string | number | null | undefined;
    /** Makes the field a textarea. */
    rows?: number;
    /** The width among filters. */
    size?: 'wide' | 'day';
  };

/** A labelled field with help and error. The first invalid field of a form gets the focus. */
export function Field(props: FieldProps) {
  const { name, label, form, help, rows, size, id = name, value, ...rest } = props;
  const { error, attributes } = stateOf({ name, id, form, help });
  const typed = form?.typed[name];
  const shown = typeof typed === 'string' ? typed : (value ?? undefined);
  const isBlank = rest.type === 'password' || rest.type === 'file';
  const isSearch = rest.type === 'search';
  return (
    <div class={isSearch ? 'search' : size ? `field ${size}` : 'field'}>
      <label for={id} class={isSearch ? 'hidden' : undefined}>
        {label}
      </label>
      {isSearch ? <Icon name="search" /> : null}
      {rows ? (
        <textarea id={id} name={name} rows={rows} dir="auto" {...rest} {...attributes}>
          {shown}
        </textarea>
      ) : (
        <input
          id={id}
          name={name}
          {...rest}
          {...attributes}
          value={isBlank ? undefined : shown}
          dir={rest.type ? undefined : 'auto'}
        />
      )}
      <Remarks id={id} help={help} error={error} />
    </div>
  );
}

export type ControlOption = { value: string; text: Child; help?: Child };

/** Options in the order of their texts, by value. */
export const optionsOf = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([value, text]) => ({ value, text }));

export type OptionGroup = { group: string; options: readonly ControlOption[] };

type SelectProps = ControlProps & {
  options: readonly (ControlOption | OptionGroup)[];
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
      <span class="select">
        <select id={id} name={name} required={required} {...attributes}>
          {options.map((option) =>
            'group' in option ? (
              <optgroup label={option.group}>
                {option.options.map((each) => (
                  <Option {...each} chosen={chosen} />
                ))}
              </optgroup>
            ) : (
              <Option {...option} chosen={chosen} />
            ),
          )}
        </select>
      </span>
      <Remarks id={id} help={help} error={error} />
    </div>
  );
}

const Option = ({ value, text, chosen }: ControlOption & { chosen: unknown }) => (
  <option value={value === text ? undefined : value} selected={value === chosen}>
    {text}
  </option>
);

const timeZones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')];

/** All time zones, and the current value if it is an alias that is not in the list. */
export function TimeZoneSelect(props: Omit<SelectProps, 'options'>) {
  const current = props.form?.typed[props.name] ?? props.value;
  const isAlias = typeof current === 'string' && !timeZones.includes(current);
  const names = isAlias ? [current, ...timeZones] : timeZones;
  return <Select {...props} options={names.map((name) => ({ value: name, text: name }))} />;
}

type ChoiceProps = ControlProps & {
  options: readonly ControlOption[];
  value?: string | readonly string[] | null | undefined;
  several?: boolean;
};

/** Radio buttons, or checkboxes with `several`. */
export function Choice(props: ChoiceProps) {
  const { name, label, form, help, options, value, several = false, id = name } = props;
  const { error, attributes } = stateOf({ name, id, form, help });
  const { autofocus, ...described } = attributes;
  const chosen = [form?.typed[name] ?? (form && hasTyped(form) ? [] : value) ?? []].flat();
  return (
    <fieldset class="field" aria-describedby={described['aria-describedby']}>
      <legend>{label}</legend>
      <div class={options.some(isLong) ? (several ? 'pair' : 'stack tight') : 'ticks'}>
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
              {option.help ? <span class="sub block">{option.help}</span> : null}
            </span>
          </label>
        ))}
      </div>
      <Remarks id={id} help={help} error={error} />
    </fieldset>
  );
}

/** Long options form a list. Short options share a line. */
const isLong = ({ text, help }: ChoiceProps['options'][number]) =>
  Boolean(help) || (typeof text === 'string' && text.length > 24);

type SegmentsProps = {
  name: string;
  label: string;
  value: string;
  options: readonly { value: string; text: string; icon?: IconName; tone?: string }[];
};

/** A few exclusive views as one control. Icons have their text for screen readers. */
export const Segments = ({ name, label, value: chosen, options }: SegmentsProps) => (
  <fieldset class="segments">
    <legend class="hidden">{label}</legend>
    {options.map(({ value, text, icon, tone }) => (
      <label>
        <input type="radio" name={name} value={value} checked={value === chosen} />
        {icon ? <Icon name={icon} /> : null}
        <span class={icon ? 'hidden' : tone ? `key ${tone}` : undefined}>{text}</span>
      </label>
    ))}
  </fieldset>
);

export function Checkbox(props: ControlProps & { checked?: boolean; value?: string }) {
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
        <p class="error" id={`${id}-error`}>
          <Icon name="triangle-alert" />
          {error}
        </p>
      ) : null}
      {help ? (
        <p class="sub" id={`${id}-help`}>
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
  kind?: 'primary' | 'danger' | 'quiet' | undefined;
  /** A small button for rows and card headings. */
  mini?: boolean;
  icon?: IconName;
};

/** A link that looks like a button. */
export function LinkButton({ text, about, kind, mini, icon, ...attributes }: LinkButtonProps) {
  return (
    <a class={['button', kind, mini && 'mini'].filter(Boolean).join(' ')} {...attributes}>
      {icon ? <Icon name={icon} /> : null}
      {text}
      {about ? <span class="hidden"> {about}</span> : null}
    </a>
  );
}

type FoldCardProps = { title: string; about?: string; isOpen: boolean; children: Child };

/** A closed section that names what it holds. */
export const FoldCard = ({ title, about, isOpen, children }: FoldCardProps) => (
  <details class="card fold-card" open={isOpen}>
    <summary>
      <span>{title}</span>
      <span class="sub">{about}</span>
      <Icon name="chevron-down" />
    </summary>
    <div class="stack">{children}</div>
  </details>
);

type SubmitOrCancelProps = { button: Child; cancel: string; danger?: boolean };

export const SubmitOrCancel = ({ button, cancel, danger = false }: SubmitOrCancelProps) => (
  <div class="acts">
    <button type="submit" class={danger ? 'danger' : 'primary'}>
      {button}
    </button>
    <LinkButton href={cancel} text="Cancel" kind="quiet" />
  </div>
);

/** Submitted values and errors, by field name. */
export type FormState = {
  typed: Readonly<Record<string, string | string[]>>;
  errors: Readonly<Record<string, string>>;
};

type InvalidForm = FormState & { values?: never };

type FormFields = Record<string, string | string[] | File>;

/** A form that has not been submitted yet, blank or with stored values. */
export const emptyForm = (typed: FormState['typed'] = {}): FormState => ({ typed, errors: {} });

/** The status of a page with the form: 422 when the form has errors. */
export const statusOf = ({ errors }: FormState) => (Object.keys(errors).length > 0 ? 422 : 200);

export const Submit = ({ children }: { children: Child }) => (
  <button type="submit" class="primary">
    {children}
  </button>
);

/** Validates a posted form. Returns its values, or all errors with the submitted values. `largest` is in bytes. */
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

/** Returns the form with an error that only the action found, such as a name that is taken. */
export async function withFieldError(
  c: Context,
  errors: FormState['errors'],
): Promise<InvalidForm> {
  return { errors, typed: typedIn(await readFields(c)) };
}

/** The stored values of a form and their version. */
export type StoredForm = { version: string; fields: Readonly<Record<string, unknown>> };

/** Hidden field with the version of the record that the form edits. */
export const Version = ({ form, value }: { form: FormState; value: string | undefined }) =>
  value === undefined ? null : (
    <input type="hidden" name="version" value={form.typed['version'] ?? value} />
  );

export async function readVersion(c: Context): Promise<IfMatch> {
  const { version } = await readFields(c);
  return typeof version === 'string' ? [version] : undefined;
}

/** The form after somebody else changed the record. Each field that differs shows the stored value as its error. */
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
      '': 'Nothing was saved, because somebody else changed this after you opened it. Fields that changed show the current value. Save again to overwrite it.',
      ...Object.fromEntries(
        differing.map(([name, value]) => [name, `Current value: ${textOf(value) || 'none'}`]),
      ),
    },
  };
}

/** Runs an action. Refusals whose code is in `fields` become errors of that field, and edit conflicts show the stored values. */
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
    if (!(error instanceof Refusal)) throw error;
    const field = fields[error.code];
    if (field === undefined) throw error;
    return await withFieldError(c, { [field]: toSentence(error.message) });
  }
}

/** Reads a form before the request is refused, so that the error page can offer to submit it again. */
export async function cachePostedForm(c: Context) {
  await readFields(c, maxMemberBytes).catch(() => undefined);
}

/**
 * The fields of a refused form, to submit again. Empty if a field is a file or a secret, because no page sends those
 * back.
 */
export function fieldsToResend(c: Context): [name: string, value: string][] {
  const fields: FormFields = c.get('formFields') ?? {};
  const entries = Object.entries(fields);
  if (entries.some(([name, value]) => value instanceof File || secret.test(name))) return [];
  return Object.entries(typedIn(fields)).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
}

/** Any number of values with the same name. */
export const listField = <const S extends v.GenericSchema<string, unknown>>(schema: S) =>
  v.optional(
    v.pipe(
      v.union([v.array(v.string()), v.string()]),
      v.transform((values) => (typeof values === 'string' ? [values] : values)),
      v.array(schema),
    ),
    [],
  );

export const Day = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d{2}-\d{2}$/, 'Enter a date'),
  v.check(isInCalendar, 'This date does not exist'),
);

/** A checkbox: browsers send it only when it is checked. */
export const checkboxField = v.pipe(
  v.optional(v.string()),
  v.transform((text) => text !== undefined),
);

/** Text, or null if the field is empty. */
export const optionalText = <const S extends v.GenericSchema<string, unknown>>(schema: S) =>
  v.pipe(
    v.optional(v.string(), ''),
    v.trim(),
    v.transform((text) => (text === '' ? null : text)),
    v.nullable(schema),
  );

/** A number, or null if the field is empty. */
export const optionalNumber = <const S extends v.GenericSchema<number, number>>(schema: S) =>
  optionalText(v.pipe(v.string(), v.toNumber('must be a number'), schema));

/** Forms of visitors are short: an address, a password, the response of a passkey. */
const maxVisitorBytes = 64 * 1024;
/** A member may have typed a long text before the session expired. */
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

/** In characters. Longer lists are uploaded as a file, which is read in pieces. */
const maxTextLength = 4 * 1024 * 1024;

/** Browsers send line ends as CRLF. Postgres cannot store NUL. */
function plain(text: string): string {
  if (text.length > maxTextLength) {
    throw new Refusal('too_large', 'This text is too long to paste. Upload it as a file.', {
      code: 'text_too_long',
    });
  }
  if (text.includes('\0')) throw new Refusal('invalid', 'The form contains a NUL character.');
  return text.toWellFormed().replaceAll('\r\n', '\n');
}

/** Secrets are never sent back to the browser. */
const secret = /password|secret|code|token/i;

function typedIn(fields: FormFields): FormState['typed'] {
  const texts = Object.entries(fields).filter(
    (entry): entry is [string, string | string[]] => !(entry[1] instanceof File),
  );
  return Object.fromEntries(texts.filter(([name]) => !secret.test(name)));
}

function mistakes(issues: readonly v.BaseIssue<unknown>[]): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const issue of issues) {
    const key = issue.path?.[0]?.key;
    const name = typeof key === 'string' ? key : '';
    errors[name] ??= describeIssue(issue);
  }
  return errors;
}

/** Replaces valibot's message for a missing value. */
export const describeIssue = (issue: v.BaseIssue<unknown>): string =>
  issue.received === 'undefined' ? 'Required.' : toSentence(issue.message);

/** CSRF protection. Cookies are secure if the public URL is https. */
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

/** Browsers send `Sec-Fetch-Site` or `Origin` with every POST. A client that sends neither is not a browser. */
function isOwnForm(c: Context, origin: string): boolean {
  const site = c.req.header('Sec-Fetch-Site');
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const sender = c.req.header('Origin');
  return sender === undefined || sender === origin;
}
