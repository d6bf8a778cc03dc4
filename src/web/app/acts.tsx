import type { Child } from 'hono/jsx';
import { Field } from './fields.tsx';
import { Mistakes } from './marks.tsx';
import { emptyForm, type FormState } from './read-form.ts';

/** Buttons and links in a row. */
export function Actions({ children }: { children: Child }) {
  return <div class="actions">{children}</div>;
}

type ConfirmProps = {
  /** What is lost, in sentences. */
  children: Child;
  action: string;
  /** The same word as on the button that led here. */
  button: string;
  cancel: string;
  /** What must be typed, for the acts that nothing brings back. */
  typed?: { name: string; label: string; expected: string };
  /** Fields that the act needs, as they came. */
  hidden?: Readonly<Record<string, string | readonly string[]>>;
  form?: FormState;
};

/** The body of a page between a dangerous button and its act. */
export function Confirm(props: ConfirmProps) {
  const { children, action, button, cancel, typed, hidden = {}, form = emptyForm() } = props;
  return (
    <form method="post" action={action} class="fields measure">
      <Mistakes form={form} />
      <div class="prose">{children}</div>
      {Object.entries(hidden).flatMap(([name, values]) =>
        [values].flat().map((value) => <input type="hidden" name={name} value={value} />),
      )}
      {typed ? (
        <Field
          name={typed.name}
          label={typed.label}
          form={form}
          help={
            <>
              Type <b>{typed.expected}</b> to confirm.
            </>
          }
          autocomplete="off"
          required
        />
      ) : null}
      <div class="actions">
        <button type="submit" class="danger">
          {button}
        </button>
        <a class="more" href={cancel}>
          Cancel
        </a>
      </div>
    </form>
  );
}

type SecretProps = {
  title: string;
  label: string;
  value: string;
  /** Why it is shown only once, and what it is for. */
  children?: Child;
  /** Where the reader goes on. */
  done: string;
};

/** A secret that is shown once: in the page, above the list, with a button that copies it. */
export function Secret({ title, label, value, children, done }: SecretProps) {
  return (
    <section class="shown-once" aria-labelledby="secret-title">
      <h2 id="secret-title">{title}</h2>
      <div class="secret">
        <label class="hidden" for="secret">
          {label}
        </label>
        <input id="secret" readonly value={value} autocomplete="off" spellcheck={false} />
        <CopyButton from="secret" />
      </div>
      {children}
      <p>
        <a class="button primary" href={done}>
          I have stored it
        </a>
      </p>
    </section>
  );
}

/** Copies the value of a field. It is hidden where there is no script, since the field can be selected. */
export function CopyButton({ from, text = 'Copy' }: { from: string; text?: string }) {
  return (
    <button type="button" data-copy={from} hidden>
      {text}
    </button>
  );
}
