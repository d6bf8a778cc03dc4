import { scaleNames, surveyTypes } from '../../scores.ts';
import { languageChoices } from '../../surveys/screens/language-names.ts';
import { type ControlOption, Field, Select } from '../../web/app/fields.tsx';

export const any = { value: '', text: 'Any' };
export const named = (names: readonly string[]) =>
  names.map((name) => ({ value: name, text: name.charAt(0).toUpperCase() + name.slice(1) }));

/** Options with what the address asks for, so that the next Apply asks for it too. */
export const withAsked = (asked: string, options: readonly ControlOption[]) =>
  options.some(({ value }) => value === asked)
    ? options
    : [...options, { value: asked, text: asked }];

const folded = ['type', 'audience', 'sentiment', 'language'];

/** The filters that few readers need, folded until one of them is set. */
export const MoreFilters = ({ value }: { value: (name: string) => string }) => (
  <details class="unfold" open={folded.some((name) => value(name) !== '')}>
    <summary class="button">More filters</summary>
    <div>
      <Select
        name="type"
        label="Type"
        value={value('type')}
        options={[any, ...surveyTypes.map((type) => ({ value: type, text: scaleNames[type] }))]}
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
