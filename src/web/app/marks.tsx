import type { Child } from 'hono/jsx';
import { lazily } from '../../lib/async/lazily.ts';
import { memoize } from '../../lib/async/memoize.ts';
import type { FlashNotice } from './flash.ts';
import type { FormState } from './read-form.ts';

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

/** Above a form with mistakes: that nothing was saved, and what is wrong with the form as a whole. */
export function Mistakes({ form }: { form: FormState }) {
  const { '': whole, ...fields } = form.errors;
  const count = Object.keys(fields).length;
  if (whole === undefined && count === 0) return null;
  const where = count === 1 ? 'One field needs' : `${count} fields need`;
  return <Notice kind="failed" text={whole ?? `Nothing was saved. ${where} a change.`} />;
}

/** The code behind a sentence shows on hover. */
export function State({
  kind,
  children,
  code,
}: {
  kind: StateKind;
  children: Child;
  code?: string;
}) {
  return (
    <span class={`state is-${kind}`} title={code}>
      {children}
    </span>
  );
}

type ChipProps = {
  score: number | string;
  category: CategoryName;
  /** What the score is of, read aloud: `of 10`. */
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

const dateForm = lazily(
  () =>
    new Intl.DateTimeFormat('en-GB', {
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      timeZone: 'UTC',
    }),
);
const mostDays = 1000;
/** A list has few days, and naming one costs more than all else of a row. */
const nameOfDay = memoize(mostDays, ({ date }: { date: string }) =>
  dateForm().format(new Date(date)),
);

type TimeProps = {
  at: Date | string;
  /** `ago` is relative where it is recent; `day` has no time of day; `second` is for what is compared. */
  show?: 'moment' | 'ago' | 'day' | 'second';
};

/** A moment in the reader's zone, exact on hover; without script in UTC, and it says so. */
export function Time({ at, show = 'moment' }: TimeProps) {
  const moment = new Date(at).toISOString();
  const [date = '', clock = ''] = moment.split('T');
  const name = nameOfDay({ date });
  const time = clock.slice(0, (show === 'second' ? 'HH:MM:SS' : 'HH:MM').length);
  return (
    <time datetime={moment} data-time={show} title={moment}>
      {show === 'day' ? name : `${name}, ${time} UTC`}
    </time>
  );
}
