import type { Child } from 'hono/jsx';
import { count, EmptyState, Pager, type PagerProps, pageSummary } from './lists.tsx';

type PagedListProps = {
  meta: { page: number; limit: number; total: number };
  /** The address of a page by its number. */
  at: (page: number) => string;
  /** What stands in place of rows where the whole list has none. */
  empty: Child;
  summary?: Child;
  words?: PagerProps['words'];
  children: Child;
};

/** The rows of one page, or why there are none, and the ways to other pages. */
export function PagedList({ meta, at, empty, summary, words, children }: PagedListProps) {
  const { page, limit, total } = meta;
  const last = Math.max(1, Math.ceil(total / limit));
  return (
    <>
      {total === 0 ? empty : page > last ? <PastTheEnd last={last} to={at(1)} /> : children}
      <Pager
        summary={summary ?? pageSummary(meta)}
        newer={page > 1 ? at(Math.min(page - 1, last)) : undefined}
        older={page < last ? at(page + 1) : undefined}
        {...(words && { words })}
      />
    </>
  );
}

const PastTheEnd = ({ last, to }: { last: number; to: string }) => (
  <EmptyState title="This page is past the end of the list">
    <p>
      The last page is {count(last)}. <a href={to}>Go to the first page</a>
    </p>
  </EmptyState>
);
