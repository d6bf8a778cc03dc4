import type { Child } from 'hono/jsx';
import { Field, LinkButton } from './forms.tsx';
import { Icon, type IconName } from './icon.tsx';

type SearchedListProps = {
  path: string;
  /** The id of the part that is swapped while the reader types. */
  id: string;
  search: { name: string; label: string; purpose: string; value: string; placeholder?: string };
  found: string;
  about: Child;
  /** Other query parameters, which searching and paging keep. */
  kept?: Readonly<Record<string, string>>;
  none: { title: string; icon?: IconName; means: string; act?: Child };
  noneFound: { title: string; means: string; act?: never };
  meta: { page: number; limit: number; total: number };
  children: Child;
};

/** A list with a search field, its total, empty states and pages. */
export function SearchedList(props: SearchedListProps) {
  const { path, id, search, found, about, kept = {}, meta, children } = props;
  const at = (page: number) =>
    withQuery(path, { ...kept, [search.name]: search.value, page: String(page) });
  const isFiltered = search.value !== '' || Object.keys(kept).length > 0;
  const empty = isFiltered ? props.noneFound : props.none;
  return (
    <>
      <search aria-label={search.purpose}>
        <FilterForm path={path} updates={id} hidden={Object.entries(kept)}>
          <Field
            name={search.name}
            label={search.label}
            type="search"
            value={search.value}
            autocomplete="off"
            placeholder={search.placeholder ?? search.label}
          />
        </FilterForm>
      </search>
      <Live id={id} says={found}>
        <div class="title">
          <h2>{found}</h2>
          {typeof about === 'string' ? <span class="sub">{about}</span> : about}
        </div>
        <PagedList
          meta={meta}
          at={at}
          empty={
            <EmptyState title={empty.title} icon={props.none.icon}>
              <p>{empty.means}</p>
              {empty.act}
            </EmptyState>
          }
        >
          {children}
        </PagedList>
      </Live>
    </>
  );
}

/** Leaves out parameters without a value. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | null | undefined>>,
) {
  const pairs = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

type LinkSegmentsProps = {
  label: string;
  links: readonly { text: Child; href: string; current: boolean; id?: string }[];
};

/** Links to a few exclusive views of a list or chart. */
export const LinkSegments = ({ label, links }: LinkSegmentsProps) => (
  <nav aria-label={label}>
    <ul class="segments">
      {links.map(({ text, href, current, id }) => (
        <li>
          <a id={id} href={href} aria-current={current ? 'true' : undefined}>
            {text}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

type FilterFormProps = {
  path: string;
  /** The id of the `Live` part that the filters change. */
  updates: string;
  /** The ids of other parts that the filters change. */
  also?: readonly string[];
  /** Query parameters without a field. */
  hidden?: readonly (readonly [name: string, value: string])[];
  children?: Child;
};

/** Filters of a list. With script they apply while the reader types, and the address follows. */
export function FilterForm({ path, updates, also = [], hidden = [], children }: FilterFormProps) {
  return (
    <form
      method="get"
      action={path}
      class="toolbar"
      hx-get={path}
      hx-trigger="input changed delay:300ms, submit"
      hx-target={`#${updates}`}
      hx-select={`#${updates}`}
      hx-select-oob={also.map((id) => `#${id}`).join(',') || undefined}
      hx-swap="outerHTML"
      hx-replace-url="true"
      hx-sync="this:replace"
    >
      {hidden.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {children}
      <button type="submit">Apply</button>
    </form>
  );
}

type LiveProps = {
  id: string;
  /** Announced to screen readers after a swap: `12 of 340 responses`. */
  says: string;
  /** Polls `path` at this interval, in seconds. */
  every?: number | undefined;
  path?: string;
  /** The id of another part of the page that is swapped at the same time. */
  also?: string;
  children?: Child;
};

/** A part of a page that is swapped after a filter changed, or every few seconds. */
export function Live({ id, says, every, path, also, children }: LiveProps) {
  const polling = every
    ? {
        'hx-get': path,
        'hx-trigger': `every ${every}s`,
        'hx-select': `#${id}`,
        'hx-target': 'this',
        'hx-swap': 'outerMorph',
        ...(also && { 'hx-select-oob': `#${also}:outerMorph` }),
      }
    : {};
  return (
    <div id={id} class="stack" data-says={says} {...polling}>
      {children}
    </div>
  );
}

type PagedListProps = {
  meta: { page: number; limit: number; total: number };
  at: (page: number) => string;
  empty: Child;
  summary?: Child;
  children: Child;
};

/** The rows of one page or an empty state, and links to other pages. */
export function PagedList({ meta, at, empty, summary, children }: PagedListProps) {
  const { page, limit, total } = meta;
  const last = Math.max(1, Math.ceil(total / limit));
  const previous = page > 1 ? at(Math.min(page - 1, last)) : undefined;
  const next = page < last ? at(page + 1) : undefined;
  return (
    <div class="card flush">
      {total === 0 ? (
        empty
      ) : page <= last ? (
        children
      ) : (
        <EmptyState title="This page does not exist">
          <p>
            The last page is {count(last)}. <a href={at(1)}>Go to the first page</a>
          </p>
        </EmptyState>
      )}
      {previous || next ? (
        <nav class="pager" aria-label="Pages">
          <span>{summary ?? pageSummary(meta)}</span>
          <span class="acts">
            {previous ? <LinkButton href={previous} rel="prev" text="Previous" /> : null}
            {next ? <LinkButton href={next} rel="next" text="Next" /> : null}
          </span>
        </nav>
      ) : null}
    </div>
  );
}

/** A plain string is a column of text. */
export type TableColumn =
  | string
  | {
      head: Child;
      number?: boolean;
      /** Read aloud only. */
      hidden?: boolean;
      /** Place on a phone: beside the row header, on a line of its own, or nowhere. By default in the line of facts. */
      phone?: 'beside' | 'line' | 'absent';
      /** Text around the value on a phone, where it has no header: `before` "Expires ", `after` " responses". */
      before?: string;
      after?: string;
    };

type DataTableProps = {
  /** Read by screen readers, and visible with `showCaption`. */
  caption: string;
  columns: readonly TableColumn[];
  /** The first cell is the row header. */
  rows: readonly { cells: readonly Child[]; current?: boolean }[];
  showCaption?: boolean;
  /** Keeps each cell on one line. */
  nowrap?: boolean;
};

/** On a phone each row becomes its header and a line of facts. Tables of numbers scroll instead, by keyboard too. */
export function DataTable(props: DataTableProps) {
  const { caption, rows, showCaption = false, nowrap = false } = props;
  const columns = props.columns.map((column) =>
    typeof column === 'string' ? { head: column } : column,
  );
  const isStacked =
    columns.every(({ head }) => typeof head === 'string') &&
    columns.slice(1).some(({ number }) => !number);
  const style = `${nowrap ? 'nowrap ' : ''}${isStacked ? 'stacked' : ''}`.trim();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset belongs to a form; a region would add a landmark
    <div class="scroll" tabindex={0} role="group" aria-label={caption}>
      <table class={style || undefined}>
        <caption class={showCaption ? undefined : 'hidden'}>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, number, hidden }) => (
              <th scope="col" class={number ? 'n' : undefined}>
                {hidden ? <span class="hidden">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ cells, current }) => (
            <tr aria-current={current ? 'true' : undefined}>
              {cells.map((cell, at) => {
                const attributes = attributesOf(columns[at]!, { cell, isStacked, isFact: at > 0 });
                if (at > 0) return <td {...attributes}>{cell}</td>;
                return (
                  <th scope="row" {...attributes}>
                    {cell}
                  </th>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function attributesOf(
  { head, number, hidden, phone, before, after }: Exclude<TableColumn, string>,
  { cell, isStacked, isFact }: { cell: Child; isStacked: boolean; isFact: boolean },
) {
  if (!isStacked) return { class: number ? 'n' : undefined };
  const place = isFact ? (phone ?? (hidden ? 'beside' : 'fact')) : '';
  const noun = ` ${head}`.toLowerCase();
  const unit = cell === '1' ? noun.replace(/s$/, '') : noun;
  const isCount = number && place === 'fact' && before === undefined;
  return {
    class: `${number ? 'n ' : ''}${place}`.trim() || undefined,
    'data-before': before,
    'data-after': after ?? (isCount ? unit : undefined),
  };
}

/** Acts of a row, or further acts of a page. */
export const ActMenu = ({ about, children }: { about?: string; children: Child }) => (
  <details class="menu">
    <summary
      class={about ? 'button square quiet' : 'button square'}
      aria-label={about ? `Actions for ${about}` : 'More actions'}
    >
      <Icon name="ellipsis" />
    </summary>
    <ul class="list end">{children}</ul>
  </details>
);

type EmptyStateProps = { title: string; icon?: IconName | undefined; children?: Child };

/** Describes the expected content of an empty list and how to create it. */
export function EmptyState({ title, icon, children }: EmptyStateProps) {
  return (
    <div class="empty">
      {icon ? (
        <span class="badge">
          <Icon name={icon} />
        </span>
      ) : null}
      <p class="name">{title}</p>
      {children}
    </div>
  );
}

/** `1 to 50 of 1,266`, or null on a page that does not exist. */
function pageSummary({ page, limit, total }: PagedListProps['meta']) {
  const first = (page - 1) * limit + 1;
  if (first > total) return null;
  const last = Math.min(page * limit, total);
  return `${count(first)} to ${count(last)} of ${count(total)}`;
}

const numbers = new Intl.NumberFormat('en-GB');

/** A count with separators: 1,266. */
export const count = (value: number) => numbers.format(value);

/** A count with its noun: `1 key`, `1,266 keys`. */
export const counted = (value: number, one: string, many = `${one}s`) =>
  `${count(value)} ${value === 1 ? one : many}`;

export function Facts({ facts }: { facts: readonly (readonly [string, Child])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}
