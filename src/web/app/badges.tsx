import type { Child } from 'hono/jsx';
import type { FlashNotice } from './flash.ts';
import { emptyForm, Field, type FormState, LinkButton, SubmitOrCancel } from './forms.tsx';

/** Buttons and links in a row. */
export function Actions({ children }: { children: Child }) {
  return <div class="actions">{children}</div>;
}

type ConfirmProps = {
  /** Names the data that is lost. */
  children: Child;
  action: string;
  button: string;
  cancel: string;
  /** For acts that cannot be undone. */
  typed?: { name: string; label: string; expected: string };
  hidden?: Readonly<Record<string, string | readonly string[]>>;
  form?: FormState;
};

/** The body of a page between a dangerous button and its act. */
export function Confirm(props: ConfirmProps) {
  const { children, action, button, cancel, typed, hidden = {}, form = emptyForm() } = props;
  return (
    <form method="post" action={action} class="fields measure">
      <FormErrors form={form} />
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
      <SubmitOrCancel button={button} cancel={cancel} danger />
    </form>
  );
}

type SecretProps = { title: string; label: string; value: string; children?: Child; done: string };

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
        <LinkButton href={done} text="I have stored it" kind="primary" />
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

export type CategoryName = 'promoter' | 'passive' | 'detractor';

/** How something stands; shape, colour and word say the same. */
export type StateKind = 'fine' | 'failed' | 'waiting' | 'skipped' | 'warning';

/** What became of an act. It stays until the next page. */
export function Notice({ kind, text, children }: FlashNotice & { children?: Child }) {
  return (
    <p class={`notice is-${kind}`} role={kind === 'failed' ? 'alert' : 'status'}>
      <span>{text}</span>
      {children}
    </p>
  );
}

/** Stands above a form with mistakes. */
export function FormErrors({ form }: { form: FormState }) {
  const { '': whole, ...fields } = form.errors;
  const count = Object.keys(fields).length;
  if (whole === undefined && count === 0) return null;
  const where = count === 1 ? 'One field needs' : `${count} fields need`;
  return <Notice kind="failed" text={whole ?? `Nothing was saved. ${where} a change.`} />;
}

type StateProps = { kind: StateKind; children: Child; code?: string };

/** The code behind a sentence shows on hover. */
export function State({ kind, children, code }: StateProps) {
  return (
    <span class={`state is-${kind}`} title={code}>
      {children}
    </span>
  );
}

type ChipProps = {
  score: number | string;
  category: CategoryName;
  /** Read aloud: `of 10`. */
  scale?: string;
  big?: boolean;
};

/** A score: shape, number, and the word, which is read aloud. */
export function Chip({ score, category, scale, big = false }: ChipProps) {
  return (
    <span class={`chip is-${category}${big ? ' big' : ''}`}>
      {score}
      <span class="hidden">
        {scale ? ` ${scale}` : ''}, {category}
      </span>
    </span>
  );
}

/** A tag, with what removes it where the reader may. */
export function Tag({ name, children }: { name: string; children?: Child }) {
  return (
    <span class="tag">
      <bdi>{name}</bdi>
      {children}
    </span>
  );
}

/** An address, of the web or of mail, which breaks where it has parts, and elsewhere only where a part is too long. */
export function Breakable({ text }: { text: string }) {
  const parts = text.split(/(?<=[?&=]|\/(?!\/)|\.(?=\w))|(?=@)/);
  return (
    <>
      {parts.map((part, at) => (
        <>
          {at > 0 ? <wbr /> : null}
          {part}
        </>
      ))}
    </>
  );
}

const dayFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});

type TimeProps = {
  at: Date | string;
  /** `ago` is relative where it is recent; `day` has no time of day; `second` is for what is compared. */
  show?: 'moment' | 'ago' | 'day' | 'second';
};

/** A moment in the reader's zone, exact on hover; without script in UTC, and it says so. */
export function Time({ at, show = 'moment' }: TimeProps) {
  const moment = new Date(at).toISOString();
  const day = dayFormat.format(new Date(moment));
  const time = moment.slice('YYYY-MM-DDT'.length, show === 'second' ? -5 : -8);
  return (
    <time datetime={moment} data-time={show} title={moment}>
      {show === 'day' ? day : `${day}, ${time} UTC`}
    </time>
  );
}
