import { counted, DataTable } from '../../web/app/lists.tsx';
import { Breakable, State, Time } from '../../web/app/marks.tsx';
import { SearchedList } from '../../web/app/searched-list.tsx';
import type { PersonRow } from '../queries.ts';

type PeopleProps = {
  path: string;
  search: string;
  people: readonly PersonRow[];
  meta: { page: number; limit: number; total: number };
};

export function PeopleList({ path, search, people, meta }: PeopleProps) {
  return (
    <SearchedList
      {...{ path, meta }}
      id="people"
      search={{
        name: 'search',
        label: 'Search',
        purpose: 'Find a person',
        value: search,
        placeholder: 'Address or name',
      }}
      found={counted(meta.total, 'person', 'people')}
      about="A person is one address over all surveys; the one added last comes first."
      none={{
        title: 'No people yet',
        means: 'Contacts of all surveys stand here, with everything that was sent and answered.',
      }}
      noneFound={{ title: 'No address or name has this part', means: 'Search for less of it.' }}
    >
      <Rows path={path} people={people} />
    </SearchedList>
  );
}

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
          <bdi title={person.email}>
            <Breakable text={person.email} />
          </bdi>
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
