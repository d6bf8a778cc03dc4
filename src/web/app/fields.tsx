import type { Child } from 'hono/jsx';
import type { FormState } from './read-form.ts';

/** What every control of a form has. `form` gives it what was typed and the mistake in it. */
export type ControlProps = {
  name: string;
  label: string;
  form?: FormState | undefined;
  help?: Child;
  required?: boolean;
  /** When the same name stands in two forms of a page. */
  id?: string;
};

type FieldProps = ControlProps & {
  type?:
    | 'text'
    | 'email'
    | 'password'
    | 'url'
    | 'number'
    | 'search'
    | 'date'
    | 'datetime-local'
    | 'color'
    | 'file'
    | 'tel';
  /** What stands in it before anything was typed. */
  value?: string | number | null | undefined;
  autocomplete?: string;
  /** With rows the field takes several lines. */
  rows?: number;
  maxlength?: number;
  min?: string | number;
  max?: string | number;
  step?: string | number;
  accept?: string;
  inputmode?: 'numeric' | 'email' | 'url' | 'text' | 'decimal';
  placeholder?: string;
  readonly?: boolean;
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

export type ControlOption = { value: string; text: Child; help?: Child; disabled?: boolean };

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
            value={option.value}
            selected={option.value === chosen}
            disabled={option.disabled}
          >
            {option.text}
          </option>
        ))}
      </select>
      <Remarks id={id} help={help} error={error} />
    </div>
  );
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
            disabled={option.disabled}
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

type TickProps = ControlProps & { checked?: boolean; value?: string };

/** A single checkbox. */
export function Tick(props: TickProps) {
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

type Control = Pick<ControlProps, 'name' | 'form' | 'help'> & { id: string };

function stateOf({ name, id, form, help }: Control) {
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
