import type { Child } from 'hono/jsx';
import type { Category } from '../../survey-types.ts';
import { monogram } from '../layout.tsx';
import type { FlashNotice } from './flash.ts';
import { emptyForm, Field, type FormState, LinkButton, SubmitOrCancel } from './forms.tsx';
import { Icon } from './icon.tsx';
import { counted } from './lists.tsx';

type ConfirmProps = {
  /** Names the data that is lost. */
  children: Child;
  action: string;
  button: string;
  cancel: string;
  /** Asks the reader to type `expected`, for actions that cannot be undone. */
  typed?: { name: string; label: string; expected: string };
  hidden?: Readonly<Record<string, string | readonly string[]>>;
  form?: FormState;
};

/** The body of a confirmation page. */
export function Confirm(props: ConfirmProps) {
  const { children, action, button, cancel, typed, hidden = {}, form = emptyForm() } = props;
  return (
    <form method="post" action={action} class="card stack measure">
      <FormErrors form={form} />
      <div class="stack tight">{children}</div>
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
              Type{' '}
              <b>
                <bdi>{typed.expected}</bdi>
              </b>{' '}
              to confirm.
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

type PartProps = {
  id: string;
  title: Child;
  /** Beside the heading: a remark, and links or buttons. */
  sub?: string;
  act?: Child;
  look?: 'flush' | 'off-paper';
  children?: Child;
};

/** A section of a page. */
export const Part = ({ id, title, sub, act, look, children }: PartProps) => (
  <section class={look ? `card ${look}` : 'card'} aria-labelledby={id}>
    <div class="title">
      <h2 id={id}>{title}</h2>
      {sub ? <span class="sub">{sub}</span> : null}
      {act}
    </div>
    {children}
  </section>
);

type SecretProps = { title: string; label: string; value: string; children?: Child; done: string };

/** A secret that is shown once, with a copy button. */
export function Secret({ title, label, value, children, done }: SecretProps) {
  return (
    <section class="card stack" aria-labelledby="secret-title">
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
        <LinkButton href={done} text="Done" kind="primary" />
      </p>
    </section>
  );
}

/** Copies the value of a field. Hidden without script: readers select the field instead. */
export function CopyButton({ from, text = 'Copy' }: { from: string; text?: string }) {
  return (
    <button type="button" data-copy={from} hidden>
      <Icon name="copy" />
      {text}
    </button>
  );
}

/** A sentence with code between backticks. */
export const Message = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</>
);

export type StateKind = 'fine' | 'failed' | 'waiting' | 'skipped' | 'warning';

/** The class of each kind, which sets its colours. */
export const toneOf: Record<StateKind, string> = {
  fine: 'is-good',
  failed: 'is-poor',
  waiting: 'is-news',
  skipped: 'is-even',
  warning: 'is-warn',
};

/** The result of an action. */
export function Notice({ kind, text, children }: FlashNotice & { children?: Child }) {
  return (
    <div class={`notice ${toneOf[kind]}`} role={kind === 'failed' ? 'alert' : 'status'}>
      <Icon name={kind === 'fine' ? 'circle-check' : 'triangle-alert'} />
      <p>{text}</p>
      {children}
    </div>
  );
}

/** Error summary above a form. */
export function FormErrors({ form }: { form: FormState }) {
  const { '': whole, ...fields } = form.errors;
  const count = Object.keys(fields).length;
  if (whole === undefined && count === 0) return null;
  const text = whole ?? `Please fix ${counted(count, 'field')}. Nothing was saved.`;
  return <Notice kind="failed" text={text} />;
}

type StateProps = { kind: StateKind; children: Child; code?: string };

/** A state in words, with its code on hover. */
export function State({ kind, children, code }: StateProps) {
  return (
    <span class={`state ${toneOf[kind]}`} title={code}>
      {children}
    </span>
  );
}

/** Phones do not show "Off", because it says little beside the other facts of a row. */
export const OnOff = ({ on }: { on: boolean }) => (
  <span class={on ? undefined : 'soft none'}>{on ? <State kind="fine">On</State> : 'Off'}</span>
);

type ChipProps = {
  score: number | string;
  category: Category;
  big?: boolean;
};

/** A score with the shape of its category. Screen readers read the category. */
export function Chip({ score, category, big = false }: ChipProps) {
  return (
    <span class={`chip is-${category}${big ? ' big' : ''}`}>
      {score}
      <span class="hidden">, {category}</span>
    </span>
  );
}

/** Initials with a colour from the name, or a figure for somebody without a name. */
export function Avatar({ name, size }: { name: string | null; size?: 'sm' | 'lg' }) {
  const words = (name ?? '').split(/[\s@._-]+/).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  const shown = [words[0], words.length > 1 ? words.at(-1) : undefined].filter(Boolean);
  const hue = [...(name ?? '')].reduce((sum, sign) => sum + sign.codePointAt(0)!, 0) % hues;
  return (
    <span class={`avatar${name ? ` h${hue + 1}` : ''}${size ? ` ${size}` : ''}`} aria-hidden="true">
      {shown.length > 0 ? shown.map((word) => monogram(word!)).join('') : <Icon name="user" />}
    </span>
  );
}

const hues = 6;

/** A tag. The child is its remove button. */
export function Tag({ name, children }: { name: string; children?: Child }) {
  return (
    <span class="tag">
      <bdi>{name}</bdi>
      {children}
    </span>
  );
}

/** A URL or email address with line breaks allowed between its parts. */
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

/** A day in UTC: 3 Mar 2026. */
export const dayText = (at: Date | string) => dayFormat.format(new Date(at));

/** When something was last used. */
export const LastUsed = ({ at }: { at: Date | string | null }) =>
  at ? <Time at={at} show="ago" /> : <span class="soft none">Never</span>;

type TimeProps = {
  at: Date | string;
  /** `ago` is relative for the last 7 days. `day` has no time of day. */
  show?: 'moment' | 'ago' | 'day' | 'second';
};

/** A time in the reader's time zone, exact on hover. Without script it is labelled UTC. */
export function Time({ at, show = 'moment' }: TimeProps) {
  const moment = new Date(at).toISOString();
  const day = dayText(moment);
  const time = moment.slice('YYYY-MM-DDT'.length, show === 'second' ? -5 : -8);
  return (
    <time datetime={moment} data-time={show} title={moment}>
      {show === 'day' ? day : `${day}, ${time} UTC`}
    </time>
  );
}
