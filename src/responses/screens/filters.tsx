import type { Child } from 'hono/jsx';
import { categories } from '../../scores.ts';
import { drawnOnce } from '../../web/app/drawn-once.ts';
import { Field, Select } from '../../web/app/fields.tsx';
import { FilterForm } from '../../web/app/live.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import { noOwner } from '../filter.cte.ts';
import { any, MoreFilters, named } from './more-filters.tsx';
import type { FilterChoices } from './shown.queries.ts';

type FiltersProps = {
  path: string;
  updates: string;
  /** The query of the page, without what is empty. */
  query: URLSearchParams;
  choices: FilterChoices;
  /** What was typed that cannot be read. */
  form: FormState;
};

const unowned = { value: noOwner, text: 'Without an owner' };
/** All filters of the list, under the names that the API has for them. */
export const Filters = ({ query, ...props }: FiltersProps) => (
  <DrawnFilters {...props} query={query.toString()} />
);

const mostFilters = 200;

type DrawnFiltersProps = Omit<FiltersProps, 'query'> & { query: string };

const DrawnFilters = drawnOnce(mostFilters, (props: DrawnFiltersProps) => {
  const { path, updates, choices, form } = props;
  const query = new URLSearchParams(props.query);
  const value = (name: string) => query.get(name) ?? '';
  const { surveys, tags, members } = choices;
  return (
    <details class="reveal wide-open" open={Object.keys(form.errors).length > 0}>
      <summary>{summary(query)}</summary>
      <search aria-label="Filter responses">
        <FilterForm path={path} updates={updates} hidden={properties(query)}>
          <div>
            <Field
              name="search"
              label="Search"
              type="search"
              value={value('search')}
              size="wide"
              placeholder="Comment, name or address"
            />
            <Select
              name="survey_id"
              label="Survey"
              value={value('survey_id')}
              options={[
                { value: '', text: 'All surveys' },
                ...surveys.map(({ id, name }) => ({ value: id, text: name })),
              ]}
            />
            <Select
              name="category"
              label="Category"
              value={value('category')}
              options={[any, ...named(categories)]}
            />
            <Select
              name="tag"
              label="Tag"
              value={value('tag')}
              options={[any, ...tags.map(({ id, name }) => ({ value: id, text: name }))]}
            />
            <Select
              name="state"
              label="State"
              value={value('state')}
              options={[any, ...named(['open', 'done'])]}
            />
          </div>
          <div>
            <Field
              name="date_from"
              label="From"
              type="date"
              form={form}
              value={value('date_from')}
              size="day"
            />
            <Field
              name="date_to"
              label="To"
              type="date"
              form={form}
              value={value('date_to')}
              size="day"
            />
            <Select
              name="owner"
              label="Owner"
              value={value('owner')}
              options={[
                any,
                unowned,
                ...members.map(({ email, name }) => ({ value: email, text: name })),
              ]}
              size="day"
            />
            <Ticked name="has_comment" checked={value('has_comment') === 'true'}>
              With a comment
            </Ticked>
            <Ticked name="held" checked={value('held') === 'true'}>
              Held
            </Ticked>
            <MoreFilters value={value} />
          </div>
        </FilterForm>
      </search>
    </details>
  );
});

/** Next to its word, as narrow as that. */
const Ticked = ({
  name,
  checked,
  children,
}: {
  name: string;
  checked: boolean;
  children: Child;
}) => (
  <label class="tick">
    <input type="checkbox" name={name} value="true" checked={checked} /> {children}
  </label>
);

const isFilter = (name: string) => !['page', 'limit', 'cursor', 'tz'].includes(name);

function summary(query: URLSearchParams): string {
  const set = [...query.keys()].filter(isFilter).length;
  return set === 0 ? 'Filters' : `Filters (${set} set)`;
}

/** Properties that are asked for already, and another time zone than the organization's, stay in the address. */
const properties = (query: URLSearchParams) =>
  Object.fromEntries([...query].filter(([name]) => name.startsWith('property.') || name === 'tz'));
