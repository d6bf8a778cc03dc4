import type { Child } from 'hono/jsx';
import { capital } from '../../errors.ts';
import { categories, surveyTypes, typeFacts } from '../../survey-types.ts';
import { type ControlOption, Field, type FormState, Select } from '../../web/app/forms.tsx';
import { FilterForm } from '../../web/app/lists.tsx';
import { languageChoices } from '../../web/language.ts';
import { noOwner } from '../filter.queries.ts';
import { readInstants } from '../period.ts';
import type { FilterChoices } from './paths.ts';

type FiltersProps = {
  path: string;
  updates: string;
  /** The query of the page, without what is empty. */
  query: URLSearchParams;
  choices: FilterChoices;
  form: FormState;
};

const unowned = { value: noOwner, text: 'Without an owner' };

const any = { value: '', text: 'Any' };

const commentOptions = [
  any,
  { value: 'true', text: 'With a comment' },
  { value: 'false', text: 'Without a comment' },
];

export function Filters({ path, updates, query, choices, form }: FiltersProps) {
  const value = (name: string) => query.get(name) ?? '';
  const { surveys, tags, members } = choices;
  return (
    <details class="reveal wide-open" open={Object.keys(form.errors).length > 0}>
      <summary>{summary(query)}</summary>
      <search aria-label="Filter responses">
        <FilterForm path={path} updates={updates} hidden={withoutField(query)}>
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
            <TagSelects asked={query.getAll('tag')} tags={tags} />
            <Select
              name="state"
              label="State"
              value={value('state')}
              options={[any, ...named(['open', 'done'])]}
            />
          </div>
          <div>
            <DayField name="date_from" label="From" form={form} value={value('date_from')} />
            <DayField name="date_to" label="To" form={form} value={value('date_to')} />
            <Select
              name="owner"
              label="Owner"
              value={value('owner')}
              options={withAsked(value('owner'), [
                any,
                unowned,
                ...members.map(({ email, name }) => ({ value: email, text: name })),
              ])}
            />
            <Select
              name="has_comment"
              label="Comment"
              value={value('has_comment')}
              options={commentOptions}
              size="day"
            />
            <Ticked name="held" checked={value('held') === 'true'}>
              Held
            </Ticked>
            <MoreFilters value={value} />
          </div>
        </FilterForm>
      </search>
    </details>
  );
}

type TagSelectsProps = { asked: readonly string[]; tags: FilterChoices['tags'] };

/** One for each tag that is asked for: a response has all of them. */
const TagSelects = ({ asked, tags }: TagSelectsProps) => {
  const options = [any, ...tags.map(({ id, name }) => ({ value: id, text: name }))];
  return (
    <>
      {(asked.length === 0 ? [''] : asked).map((id, at) => (
        <Select
          name="tag"
          id={at === 0 ? 'tag' : `tag-${at + 1}`}
          label={at === 0 ? 'Tag' : 'And tag'}
          value={id.toLowerCase()}
          options={withAsked(id.toLowerCase(), options)}
        />
      ))}
    </>
  );
};

type DayFieldProps = { name: string; label: string; form: FormState; value: string };

/** A control for days shows nothing else, and would lose a time, or what is wrong, of the address. */
const DayField = ({ form, value, ...given }: DayFieldProps) => {
  const shown = String(form.typed[given.name] ?? value);
  const isDay = shown === '' || (/^\d{4}-\d\d-\d\d$/.test(shown) && readInstants(shown));
  return <Field {...given} type={isDay ? 'date' : 'text'} form={form} value={value} size="day" />;
};

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

/** Keeps what has no field: properties, another time zone, the length of a page. */
const withoutField = (query: URLSearchParams) =>
  [...query].filter(([name]) => name.startsWith('property.') || name === 'tz' || name === 'limit');

const named = (names: readonly string[]) =>
  names.map((name) => ({ value: name, text: capital(name) }));

/** Options with what the address asks for, so that the next Apply asks for it too. */
const withAsked = (asked: string, options: readonly ControlOption[]) =>
  options.some(({ value }) => value === asked)
    ? options
    : [...options, { value: asked, text: asked }];

const folded = ['type', 'audience', 'sentiment', 'language'];

/** The filters that few readers need, folded until one of them is set. */
const MoreFilters = ({ value }: { value: (name: string) => string }) => (
  <details class="unfold" open={folded.some((name) => value(name) !== '')}>
    <summary class="button">More filters</summary>
    <div>
      <Select
        name="type"
        label="Type"
        value={value('type')}
        options={[any, ...surveyTypes.map((type) => ({ value: type, text: typeFacts(type).name }))]}
      />
      <Select
        name="audience"
        label="Audience"
        value={value('audience')}
        options={[
          any,
          { value: 'customer', text: 'Customers' },
          { value: 'employee', text: 'Employees' },
        ]}
        size="day"
      />
      <Select
        name="sentiment"
        label="Sentiment"
        value={value('sentiment')}
        options={[any, ...named(['positive', 'neutral', 'negative', 'mixed'])]}
        size="day"
      />
      <Select
        name="language"
        label="Language"
        value={value('language')}
        options={withAsked(value('language'), [any, ...languageChoices(undefined)])}
        size="day"
      />
      <Field
        name="property"
        label="Property"
        value=""
        placeholder="plan=pro"
        autocomplete="off"
        size="day"
      />
    </div>
  </details>
);
