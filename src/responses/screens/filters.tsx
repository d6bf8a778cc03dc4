import { capital } from '../../errors.ts';
import { valuesOf } from '../../questions/results.ts';
import { categories, surveyTypes, typeFacts } from '../../survey-types.ts';
import { anyPerson, fillIn } from '../../surveys/texts.ts';
import { dayText } from '../../web/app/badges.tsx';
import { type ControlOption, Field, type FormState, Select } from '../../web/app/forms.tsx';
import { Icon } from '../../web/app/icon.tsx';
import { FilterForm } from '../../web/app/lists.tsx';
import { languageChoices } from '../../web/language.ts';
import { noOwner } from '../filter.queries.ts';
import { readInstants } from '../period.ts';
import { FilterChip, PropertySelect } from '../property-filters.tsx';
import type { FilterChoices, RecentValues } from './choices.ts';
import { me, notFilters } from './paths.ts';

export type FiltersProps = {
  path: string;
  /** The id of the list. */
  updates: string;
  /** The ids of other parts that the filters change. */
  also: readonly string[];
  query: URLSearchParams;
  choices: FilterChoices;
  recent: RecentValues;
  form: FormState;
};

const any = { value: '', text: 'Any' };
const add = { value: '', text: 'Choose' };
/** All questions of all surveys would be too long a list. */
const maxQuestions = 20;

/** Search, a menu with all filters, and chips for the active filters. */
export function Filters(props: FiltersProps) {
  const { path, updates, also, query, choices, recent, form } = props;
  const value = (name: string) => query.get(name) ?? '';
  const select = (name: string, label: string, options: readonly ControlOption[]) => (
    <Select {...{ name, label }} options={withSelected(value(name), options)} value={value(name)} />
  );
  const asked = recent.questions.filter(({ archived }) => !archived).slice(0, maxQuestions);
  const hidden = [...query].filter(([name]) => name === 'tz' || name === 'limit');
  return (
    <search aria-label="Filter responses">
      <FilterForm {...{ path, updates, also, hidden }}>
        <p class="search">
          <Icon name="search" />
          <input
            type="search"
            id="search"
            name="search"
            aria-label="Search"
            aria-keyshortcuts="/"
            placeholder="Search responses"
            value={value('search')}
            autocomplete="off"
          />
          <kbd>/</kbd>
        </p>
        <details class="menu" open={Object.keys(form.errors).length > 0}>
          <summary class="button">
            <Icon name="list-filter" />
            Filter
          </summary>
          <div class="list picker">
            {select('survey_id', 'Survey', [
              { value: '', text: 'All surveys' },
              ...choices.surveys.map(({ id, name }) => ({ value: id, text: name })),
            ])}
            {select('category', 'Category', [any, ...toOptions(categories)])}
            {select('state', 'State', [any, ...toOptions(['open', 'done'])])}
            {select('owner', 'Owner', [
              any,
              { value: me, text: 'Me' },
              { value: noOwner, text: 'Unassigned' },
              ...choices.members.map(({ email, name }) => ({ value: email, text: name })),
            ])}
            {select('has_comment', 'Comment', commentOptions)}
            {select('held', 'Counted', heldOptions)}
            {select('days', 'Time', dayOptions)}
            <DayField name="date_from" label="From" form={form} value={value('date_from')} />
            <DayField name="date_to" label="To" form={form} value={value('date_to')} />
            <Select
              name="tag"
              label="Tag"
              options={[add, ...choices.tags.map(({ id, name }) => ({ value: id, text: name }))]}
            />
            {select('theme', 'Theme', [
              any,
              ...recent.themes.map((theme) => ({ value: theme, text: theme })),
            ])}
            {select('sentiment', 'Sentiment', sentimentOptions)}
            {asked.length === 0 ? null : (
              <Select
                name="answer"
                id="add-answer"
                label="Answer"
                options={[
                  add,
                  ...asked.map((question) => ({
                    group: fillIn(question.text, anyPerson),
                    options: valuesOf(question).map((option) => ({
                      value: `${question.id}=${option.id}`,
                      text: option.label,
                    })),
                  })),
                ]}
              />
            )}
            <PropertySelect properties={recent.properties} />
            {select('type', 'Type', typeOptions)}
            {select('audience', 'Audience', audienceOptions)}
            {select('language', 'Language', [any, ...languageChoices(undefined)])}
            <Field
              name="property"
              id="other-property"
              label="Other property"
              form={form}
              value=""
              placeholder="plan=pro"
              autocomplete="off"
            />
          </div>
        </details>
        <Chips {...{ path, query, choices, recent }} />
      </FilterForm>
    </search>
  );
}

type ChipsProps = Pick<FiltersProps, 'path' | 'query' | 'choices' | 'recent'>;

export const chipsId = 'chips';

/**
 * Swapped with the list. Hidden fields keep the selected tags, properties and answers, because the menu only adds more.
 */
function Chips({ path, query, choices, recent }: ChipsProps) {
  const filters = [...query].filter(([name]) => !notFilters.includes(name));
  const kept = filters.filter(([name]) => name === 'tag' || /^(property|answer)\./.test(name));
  return (
    <div class="acts" id={chipsId}>
      {kept.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {filters.map(([name, value]) => {
        const words = describeFilter([name, value], { choices, recent });
        return words && <FilterChip {...{ path, query, name, value }} {...words} />;
      })}
      {filters.length === 0 ? null : (
        <a class="button quiet mini" href={path}>
          Clear
        </a>
      )}
    </div>
  );
}

type Names = Pick<FiltersProps, 'choices' | 'recent'>;

/** A filter in words. Undefined if a form field already shows the filter. */
function describeFilter([name, value]: [string, string], { choices, recent }: Names) {
  const [, prefix, key = ''] = /^(property|answer)\.(.*)$/s.exec(name) ?? [];
  if (prefix === 'property') return { label: key, text: value };
  if (prefix === 'answer') {
    const question = recent.questions.find(({ id }) => id === key);
    const option = question && valuesOf(question).find(({ id }) => id === value);
    const label = question ? fillIn(question.text, anyPerson) : 'Unknown question';
    return { label, text: option?.label ?? value };
  }
  switch (name) {
    case 'survey_id':
      return { label: 'Survey', text: nameOf(choices.surveys, value) ?? 'Unknown survey' };
    case 'tag':
      return { label: 'Tag', text: nameOf(choices.tags, value.toLowerCase()) ?? 'Unknown tag' };
    case 'owner':
      return { label: 'Owner', text: ownerName(value, choices) };
    case 'days':
      return textIn(dayOptions, value) ?? { text: `Last ${value} days` };
    case 'date_from':
      return { label: 'From', text: dayOr(value) };
    case 'date_to':
      return { label: 'To', text: dayOr(value) };
    case 'has_comment':
      return textIn(commentOptions, value);
    case 'held':
      return value === 'true' ? { text: 'On hold' } : undefined;
    case 'audience':
      return textIn(audienceOptions, value);
    case 'language':
      return {
        label: 'Language',
        ...(textIn(languageChoices(undefined), value) ?? { text: value }),
      };
    case 'type':
      return { label: 'Type', text: textIn(typeOptions, value)?.text ?? value };
    case 'category':
    case 'state':
    case 'sentiment':
      return { label: capital(name), text: value };
    case 'theme':
      return { label: 'Theme', text: value };
    default:
      return undefined;
  }
}

/** A value with a time of day stays as it is. */
const dayOr = (value: string) => (isDay(value) ? dayText(value) : value);

const nameOf = (rows: readonly { id: string; name: string }[], id: string) =>
  rows.find((row) => row.id === id)?.name;

function ownerName(value: string, { members }: FilterChoices): string {
  if (value === me) return 'me';
  if (value === noOwner) return 'unassigned';
  return members.find(({ email }) => email === value)?.name ?? value;
}

function textIn(options: readonly ControlOption[], value: string): { text: string } | undefined {
  const text = options.find((option) => option.value === value)?.text;
  return typeof text === 'string' ? { text } : undefined;
}

const toOptions = (names: readonly string[]) =>
  names.map((name) => ({ value: name, text: capital(name) }));

const commentOptions = [
  any,
  { value: 'true', text: 'With a comment' },
  { value: 'false', text: 'Without a comment' },
];

const heldOptions = [
  { value: '', text: 'Responses that count' },
  { value: 'true', text: 'On hold' },
];

const dayOptions = [
  { value: '', text: 'Any time' },
  ...[7, 30, 90, 365].map((days) => ({ value: String(days), text: `Last ${days} days` })),
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

const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && readInstants(text);

type DayFieldProps = { name: string; label: string; form: FormState; value: string };

/** A date input would lose a time or an invalid value from the query. */
const DayField = ({ form, value, ...texts }: DayFieldProps) => {
  const shown = String(form.typed[texts.name] ?? value);
  const type = shown === '' || isDay(shown) ? 'date' : 'text';
  return <Field {...texts} {...{ type, form, value }} />;
};

/** Adds the selected value if it is missing, so that Apply keeps it. */
const withSelected = (selected: string, options: readonly ControlOption[]) =>
  options.some(({ value }) => value === selected)
    ? options
    : [...options, { value: selected, text: selected }];
