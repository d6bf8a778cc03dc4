import { Field } from '../../web/app/fields.tsx';
import { counted, DataTable, EmptyState, Pager, pageSummary } from '../../web/app/lists.tsx';
import { FilterForm, Live } from '../../web/app/live.tsx';
import { State, Time } from '../../web/app/marks.tsx';
import type { PersonRow } from '../queries.ts';
import { peopleTexts as texts } from './texts.ts';

type PeopleProps = {
  path: string;
  search: string;
  people: readonly PersonRow[];
  meta: { page: number; limit: number; total: number };
};

const listId = 'people';

export function PeopleList({ path, search, people, meta }: PeopleProps) {
  const found = counted(meta.total, 'person', 'people');
  return (
    <>
      <search aria-label="Find a person">
        <FilterForm path={path} updates={listId}>
          <div>
            <Field
              name="search"
              label="Search"
              type="search"
              size="wide"
              value={search}
              placeholder="Address or name"
            />
          </div>
        </FilterForm>
      </search>
      <Live id={listId} says={found}>
        <div class="title">
          <h2>{found}</h2>
          <span class="small soft">{texts.about}</span>
        </div>
        {people.length === 0 ? (
          <None searched={search !== ''} />
        ) : (
          <Rows path={path} people={people} />
        )}
        <Pager summary={pageSummary(meta)} {...ways(path, search, meta)} />
      </Live>
    </>
  );
}

const None = ({ searched }: { searched: boolean }) => (
  <EmptyState title={searched ? texts.noneFound : texts.none}>
    <p>{searched ? texts.noneFoundMeans : texts.noneMeans}</p>
  </EmptyState>
);

const Rows = ({ path, people }: Pick<PeopleProps, 'path' | 'people'>) => (
  <DataTable
    caption="People, those added last first"
    columns={[
      { head: 'Address' },
      { head: 'Name' },
      { head: 'Surveys', number: true },
      { head: 'Last asked' },
      { head: 'Last answered' },
      { head: 'Mail' },
    ]}
    rows={people.map((person) => ({
      cells: [
        <a href={`${path}/${person.id}`}>
          <bdi>{person.email}</bdi>
        </a>,
        <bdi>{person.name ?? ''}</bdi>,
        person.surveys,
        person.last_asked_at ? <Time at={person.last_asked_at} show="ago" /> : 'never',
        person.last_answered_at ? <Time at={person.last_answered_at} show="ago" /> : 'never',
        person.suppressed ? <State kind="skipped">Suppressed</State> : '',
      ],
    }))}
  />
);

function ways(path: string, search: string, { page, limit, total }: PeopleProps['meta']) {
  const to = (number: number) => {
    const query = new URLSearchParams({ ...(search && { search }), page: String(number) });
    return `${path}?${query}`;
  };
  return {
    newer: page > 1 ? to(page - 1) : undefined,
    older: page * limit < total ? to(page + 1) : undefined,
  };
}
