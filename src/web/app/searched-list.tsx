import type { Child } from 'hono/jsx';
import { Field } from './fields.tsx';
import { EmptyState } from './lists.tsx';
import { FilterForm, Live } from './live.tsx';
import { PagedList } from './paged-list.tsx';

type SearchedListProps = {
  path: string;
  /** Names the part of the page that changes as one types. */
  id: string;
  search: { name: string; label: string; purpose: string; value: string; placeholder?: string };
  found: string;
  about: string;
  none: { title: string; means: string };
  noneFound: { title: string; means: string };
  meta: { page: number; limit: number; total: number };
  children: Child;
};

/** A list with one field that searches it, its number, its empty states and its pages. */
export function SearchedList(props: SearchedListProps) {
  const { path, id, search, found, about, meta, children } = props;
  const empty = search.value ? props.noneFound : props.none;
  return (
    <>
      <search aria-label={search.purpose}>
        <FilterForm path={path} updates={id}>
          <div>
            <Field
              name={search.name}
              label={search.label}
              type="search"
              size="wide"
              value={search.value}
              autocomplete="off"
              {...(search.placeholder && { placeholder: search.placeholder })}
            />
          </div>
        </FilterForm>
      </search>
      <Live id={id} says={found}>
        <div class="title">
          <h2>{found}</h2>
          <span class="small soft">{about}</span>
        </div>
        <PagedList
          meta={meta}
          at={(page) => addressOf(props, page)}
          empty={
            <EmptyState title={empty.title}>
              <p>{empty.means}</p>
            </EmptyState>
          }
        >
          {children}
        </PagedList>
      </Live>
    </>
  );
}

function addressOf({ path, search }: SearchedListProps, page: number) {
  const searched = search.value && { [search.name]: search.value };
  return `${path}?${new URLSearchParams({ ...searched, page: String(page) })}`;
}
