import { capital } from '../../errors.ts';
import { isUuid } from '../../lib/validation/parse.ts';
import { valuesOf } from '../../questions/results.ts';
import { categories, surveyTypes, typeFacts } from '../../survey-types.ts';
import { anyPerson, fillIn } from '../../surveys/texts.ts';
import { dayText } from '../../web/app/badges.tsx';
import {
  type ControlOption,
  Field,
  type FormState,
  optionsOf,
  Select,
} from '../../web/app/forms.tsx';
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
  updates: string;
  also: readonly string[];
  query: URLSearchParams;
  choices: FilterChoices;
  recent: RecentValues;
  form: FormState;
};

/** All questions of all surveys would be too long a list. */
const maxQuestions = 20;

/** Search, a menu with all filters, and chips for the active filters. */
export function Filters(props: FiltersProps) {
  const { path, updates, also, query, choices, recent, form } = props;
  const value = (name: string) => query.get(name) ?? '';
  const fields = choiceFields(choices, recent);
  const asked = recent.questions.filter(({ archived }) => !archived).slice(0, maxQuestions);
  const hidden = [...query].filter(([name]) => name === 'tz' || name === 'limit');
  return (
    <search aria-label="Filter responses">
      <FilterForm path={path} updates={updates} also={also} hidden={hidden}>
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
            {Object.entries(fields).map(([name, { label, options }]) => (
              <Select
                name={name}
                label={label}
                options={withSelected(value(name), options)}
                value={value(name)}
              />
            ))}
            <DayField name="date_from" label="From" form={form} value={value('date_from')} />
            <DayField name="date_to" label="To" form={form} value={value('date_to')} />
            <Select name="tag" label="Tag" options={[add, ...named(choices.tags)]} />
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
        <Chips path={path} query={query} choices={choices} recent={recent} fields={fields} />
      </FilterForm>
    </search>
  );
}

const any = { value: '', text: 'Any' };
const add = { value: '', text: 'Choose' };

type ChoiceFields = Record<string, { label: string; options: readonly ControlOption[] }>;

/** The filters with one value of a list, by parameter. */
const choiceFields = (choices: FilterChoices, recent: RecentValues): ChoiceFields => ({
  survey_id: {
    label: 'Survey',
    options: [{ value: '', text: 'All surveys' }, ...named(choices.surveys)],
  },
  category: { label: 'Category', options: [any, ...toOptions(categories)] },
  state: { label: 'State', options: [any, ...toOptions(['open', 'done'])] },
  owner: {
    label: 'Owner',
    options: [
      ...optionsOf({ '': 'Any', [me]: 'Me', [noOwner]: 'Unassigned' }),
      ...choices.members.map(({ email, name }) => ({ value: email, text: name })),
    ],
  },
  has_comment: {
    label: 'Comment',
    options: optionsOf({ '': 'Any', true: 'With a comment', false: 'Without a comment' }),
  },
  held: {
    label: 'Counted',
    options: optionsOf({ '': 'Responses that count', true: 'On hold' }),
  },
  theme: {
    label: 'Theme',
    options: [any, ...recent.themes.map((theme) => ({ value: theme, text: theme }))],
  },
  sentiment: {
    label: 'Sentiment',
    options: [any, ...toOptions(['positive', 'neutral', 'negative', 'mixed'])],
  },
  type: {
    label: 'Type',
    options: [any, ...surveyTypes.map((type) => ({ value: type, text: typeFacts(type).name }))],
  },
  audience: {
    label: 'Audience',
    options: optionsOf({ '': 'Any', customer: 'Customers', employee: 'Employees' }),
  },
  language: { label: 'Language', options: [any, ...languageChoices(undefined)] },
  days: {
    label: 'Time',
    options: [
      { value: '', text: 'Any time' },
      ...[7, 30, 90, 365].map((days) => ({ value: String(days), text: `Last ${days} days` })),
    ],
  },
});

const named = (rows: readonly { id: string; name: string }[]) =>
  rows.map(({ id, name }) => ({ value: id, text: name }));

const toOptions = (names: readonly string[]) =>
  names.map((name) => ({ value: name, text: capital(name) }));

type ChipsProps = Pick<FiltersProps, 'path' | 'query' | 'choices' | 'recent'> & {
  fields: ChoiceFields;
};

export const chipsId = 'chips';

/**
 * Swapped with the list. Hidden fields keep the selected tags, properties and answers, because the menu only adds more.
 */
function Chips({ path, query, choices, recent, fields }: ChipsProps) {
  const filters = [...query].filter(([name]) => !notFilters.includes(name));
  const kept = filters.filter(([name]) => name === 'tag' || /^(property|answer)\./.test(name));
  return (
    <div class="acts" id={chipsId}>
      {kept.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {filters.map(([name, value]) => {
        const words = describeFilter([name, value], { choices, recent, fields });
        return (
          words && <FilterChip path={path} query={query} name={name} value={value} {...words} />
        );
      })}
      {filters.length === 0 ? null : (
        <a class="button quiet mini" href={path}>
          Clear
        </a>
      )}
    </div>
  );
}

/** A filter in words. Undefined if a form field already shows the filter. */
function describeFilter(
  [name, value]: [string, string],
  { choices, recent, fields }: Pick<ChipsProps, 'choices' | 'recent' | 'fields'>,
) {
  const [, prefix, key = ''] = /^(property|answer)\.(.*)$/s.exec(name) ?? [];
  if (prefix === 'property') return { label: key, text: value };
  if (prefix === 'answer') {
    const question = recent.questions.find(({ id }) => id === key);
    const option = question && valuesOf(question).find(({ id }) => id === value);
    const label = question ? fillIn(question.text, anyPerson) : 'Unknown question';
    return { label, text: option?.label ?? value };
  }
  if (name === 'date_from' || name === 'date_to') {
    const text = isDay(value) ? dayText(value) : value;
    return { label: name === 'date_from' ? 'From' : 'To', text };
  }
  const field = name === 'tag' ? { label: 'Tag', options: named(choices.tags) } : fields[name];
  if (!field) return undefined;
  const option = field.options.find((each) => each.value.toLowerCase() === value.toLowerCase());
  const unknown = isUuid(value) ? `Unknown ${field.label.toLowerCase()}` : value;
  return { label: field.label, text: String(option?.text ?? unknown) };
}

const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && readInstants(text);

type DayFieldProps = { name: string; label: string; form: FormState; value: string };

/** A date input would lose a time or an invalid value from the query. */
const DayField = ({ form, value, ...texts }: DayFieldProps) => {
  const shown = String(form.typed[texts.name] ?? value);
  const type = shown === '' || isDay(shown) ? 'date' : 'text';
  return <Field {...texts} type={type} form={form} value={value} />;
};

/** Adds the selected value if it is missing, so that Apply keeps it. */
const withSelected = (selected: string, options: readonly ControlOption[]) =>
  options.some(({ value }) => value === selected)
    ? options
    : [...options, { value: selected, text: selected }];
