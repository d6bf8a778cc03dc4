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
  query: URLSearchParams;
  choices: FilterChoices;
  form: FormState;
};

const any = { value: '', text: 'Any' };

/** Folded until one of them is set. */
const foldedNames = ['type', 'audience', 'sentiment', 'theme', 'language'];

export function Filters({ path, updates, query, choices, form }: FiltersProps) {
  const value = (name: string) => query.get(name) ?? '';
  const select = (name: string, label: string, options: readonly ControlOption[], size?: 'day') => (
    <Select {...{ name, label, options }} value={value(name)} {...(size && { size })} />
  );
  const set = [...query.keys()].filter((name) => !notCounted.includes(name)).length;
  const hidden = [...query].filter(
    ([name]) => /^(property|answer)\./.test(name) || name === 'tz' || name === 'limit',
  );
  const isUnfolded =
    'property' in form.errors ||
    [...query.keys()].some((name) => foldedNames.includes(name) || name.startsWith('property.'));
  return (
    <details class="reveal wide-open" open={Object.keys(form.errors).length > 0}>
      <summary>{set === 0 ? 'Filters' : `Filters (${set} set)`}</summary>
      <search aria-label="Filter responses">
        <FilterForm path={path} updates={updates} hidden={hidden}>
          <div>
            <Field
              name="search"
              label="Search"
              type="search"
              value={value('search')}
              size="wide"
              placeholder="Comment, name or email"
            />
            {select('survey_id', 'Survey', [
              { value: '', text: 'All surveys' },
              ...choices.surveys.map(({ id, name }) => ({ value: id, text: name })),
            ])}
            {select('category', 'Category', [any, ...toOptions(categories)])}
            <TagSelects selected={query.getAll('tag')} tags={choices.tags} />
            {select('state', 'State', [any, ...toOptions(['open', 'done'])])}
          </div>
          <div>
            <DayField name="date_from" label="From" form={form} value={value('date_from')} />
            <DayField name="date_to" label="To" form={form} value={value('date_to')} />
            {select(
              'owner',
              'Owner',
              withSelected(value('owner'), [
                any,
                { value: noOwner, text: 'Unassigned' },
                ...choices.members.map(({ email, name }) => ({ value: email, text: name })),
              ]),
            )}
            {select('has_comment', 'Comment', commentOptions, 'day')}
            <label class="tick">
              <input type="checkbox" name="held" value="true" checked={value('held') === 'true'} />{' '}
              On hold
            </label>
            <details class="unfold" open={isUnfolded}>
              <summary class="button">More filters</summary>
              <div>
                {select('type', 'Type', typeOptions)}
                {select('audience', 'Audience', audienceOptions, 'day')}
                {select('sentiment', 'Sentiment', sentimentOptions, 'day')}
                <Field
                  name="theme"
                  label="Theme"
                  form={form}
                  value={value('theme')}
                  placeholder="billing"
                  autocomplete="off"
                  size="day"
                />
                {select(
                  'language',
                  'Language',
                  withSelected(value('language'), [any, ...languageChoices(undefined)]),
                  'day',
                )}
                <Field
                  name="property"
                  label="Property"
                  form={form}
                  value=""
                  placeholder="plan=pro"
                  autocomplete="off"
                  size="day"
                />
              </div>
            </details>
          </div>
        </FilterForm>
      </search>
    </details>
  );
}

const notCounted = ['page', 'limit', 'cursor', 'tz'];

const toOptions = (names: readonly string[]) =>
  names.map((name) => ({ value: name, text: capital(name) }));

const commentOptions = [
  any,
  { value: 'true', text: 'With a comment' },
  { value: 'false', text: 'Without a comment' },
];

const typeOptions = [
  any,
  ...surveyTypes.map((type) => ({ value: type, text: typeFacts(type).name })),
];

const audienceOptions = [
  any,
  { value: 'customer', text: 'Customers' },
  { value: 'employee', text: 'Employees' },
];

const sentimentOptions = [any, ...toOptions(['positive', 'neutral', 'negative', 'mixed'])];

type TagSelectsProps = { selected: readonly string[]; tags: FilterChoices['tags'] };

/** One per selected tag, because all of them must match. */
const TagSelects = ({ selected, tags }: TagSelectsProps) => {
  const options = [any, ...tags.map(({ id, name }) => ({ value: id, text: name }))];
  return (
    <>
      {(selected.length === 0 ? [''] : selected).map((id, at) => (
        <Select
          name="tag"
          id={at === 0 ? 'tag' : `tag-${at + 1}`}
          label={at === 0 ? 'Tag' : 'And tag'}
          value={id.toLowerCase()}
          options={withSelected(id.toLowerCase(), options)}
        />
      ))}
    </>
  );
};

type DayFieldProps = { name: string; label: string; form: FormState; value: string };

/** A date input would lose a time or an invalid value from the query. */
const DayField = ({ form, value, ...texts }: DayFieldProps) => {
  const shown = String(form.typed[texts.name] ?? value);
  const isDay = shown === '' || (/^\d{4}-\d\d-\d\d$/.test(shown) && readInstants(shown));
  return <Field {...texts} type={isDay ? 'date' : 'text'} form={form} value={value} size="day" />;
};

/** Adds the selected value if it is missing, so that Apply keeps it. */
const withSelected = (selected: string, options: readonly ControlOption[]) =>
  options.some(({ value }) => value === selected)
    ? options
    : [...options, { value: selected, text: selected }];
