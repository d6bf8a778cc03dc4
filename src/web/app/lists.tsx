import type { Child } from 'hono/jsx';
import { lazily } from '../../lib/async/lazily.ts';

export type TableColumn = {
  head: Child;
  number?: boolean /** Read aloud only. */;
  hidden?: boolean;
};

type DataTableProps = {
  /** What the table is: read aloud, shown where `showCaption` is set. */
  caption: string;
  columns: readonly TableColumn[];
  /** Rows of cells; the first cell heads its row. */
  rows: readonly TableRow[];
  showCaption?: boolean;
  /** Cells keep to one line, and the table scrolls. */
  nowrap?: boolean;
  /** What a swap replaces. */
  id?: string;
};

export type TableRow = { cells: readonly Child[]; current?: boolean; id?: string };

/** What is compared by column. On a phone it scrolls inside itself, by keyboard too. */
export function DataTable(props: DataTableProps) {
  const { caption, columns, rows, showCaption = false, nowrap = false, id } = props;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is of a form; a region would be one more landmark
    <div class="scroll" tabindex={0} role="group" aria-label={caption} id={id}>
      <table class={nowrap ? 'nowrap' : undefined}>
        <caption class={showCaption ? undefined : 'hidden'}>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, number, hidden }) => (
              <th scope="col" class={number ? 'number' : undefined}>
                {hidden ? <span class="hidden">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row row={row} columns={columns} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ row, columns }: { row: TableRow; columns: readonly TableColumn[] }) {
  const [first, ...others] = row.cells;
  return (
    <tr id={row.id} aria-current={row.current ? 'true' : undefined}>
      <th scope="row" class={columns[0]?.number ? 'number' : undefined}>
        {first}
      </th>
      {others.map((cell, at) => (
        <td class={columns[at + 1]?.number ? 'number' : undefined}>{cell}</td>
      ))}
    </tr>
  );
}

/** A list without rows: what would be there, and how to get it. */
export function EmptyState({ title, children }: { title: string; children?: Child }) {
  return (
    <div class="empty">
      <p class="strong">{title}</p>
      {children}
    </div>
  );
}

export type PagerProps = {
  /** In words: `1 to 50 of 1,266`, or `42 keys`; null of an empty list, which says so itself. */
  summary: Child;
  newer?: string | undefined;
  older?: string | undefined;
  words?: { newer: string; older: string };
  /** What is paged, where a page has two lists. */
  label?: string;
};

/** Where in a list this page is. Both ways are links, so that the back button works. */
export function Pager({ summary, newer, older, words, label = 'Pages' }: PagerProps) {
  const { newer: back, older: on } = words ?? { newer: 'Newer', older: 'Older' };
  if (summary === null && !newer && !older) return null;
  if (!newer && !older) return <p class="pager">{summary}</p>;
  return (
    <nav class="pager" aria-label={label}>
      <span>{summary}</span>
      <span class="actions">
        {newer ? (
          <a class="button" href={newer} rel="prev">
            {back}
          </a>
        ) : null}
        {older ? (
          <a class="button" href={older} rel="next">
            {on}
          </a>
        ) : null}
      </span>
    </nav>
  );
}

/** `1 to 50 of 1,266`, also on a page that the address alone leads to. */
export function pageSummary({
  page,
  limit,
  total,
}: {
  page: number;
  limit: number;
  total: number;
}) {
  if (total === 0) return null;
  const first = (page - 1) * limit + 1;
  if (first > total) return `Past the last of ${count(total)}`;
  const last = Math.min(page * limit, total);
  return `${count(first)} to ${count(last)} of ${count(total)}`;
}

const numbers = lazily(() => new Intl.NumberFormat('en-GB'));

/** A count with separators: 1,266. */
export const count = (value: number) => numbers().format(value);

/** A count with its noun: `1 key`, `1,266 keys`. */
export const counted = (value: number, one: string, many = `${one}s`) =>
  `${count(value)} ${value === 1 ? one : many}`;

/** Names and values. */
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
