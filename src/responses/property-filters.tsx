import { Select } from '../web/app/forms.tsx';
import { Icon } from '../web/app/icon.tsx';
import type { PropertyValues } from './property-values.ts';
import { readPair } from './rules.ts';

const prefix = 'property.';

type FilterChipProps = {
  path: string;
  query: URLSearchParams;
  name: string;
  value: string;
  label: string;
  text: string;
};

/** An active filter with a link that removes it. */
export function FilterChip({ path, query, name, value, label, text }: FilterChipProps) {
  const rest = new URLSearchParams(query);
  rest.delete(name, value);
  rest.delete('page');
  return (
    <span class="filter">
      <span>
        <bdi>{label}</bdi>: <bdi>{text}</bdi>
      </span>
      <a
        href={rest.size === 0 ? path : `${path}?${rest}`}
        aria-label={`Remove the filter ${label}: ${text}`}
      >
        <Icon name="x" />
      </a>
    </span>
  );
}

type PropertyFiltersProps = { path: string; query: URLSearchParams };

export function PropertyFilters({ path, query }: PropertyFiltersProps) {
  const properties = [...query].filter(([name]) => name.startsWith(prefix));
  if (properties.length === 0) return null;
  return (
    <p class="acts">
      {properties.map(([name, value]) => (
        <FilterChip
          path={path}
          query={query}
          name={name}
          value={value}
          label={name.slice(prefix.length)}
          text={value}
        />
      ))}
    </p>
  );
}

/** Offers values of recent rows as property filters to add. */
export const PropertySelect = ({ properties }: { properties: readonly PropertyValues[] }) =>
  properties.length === 0 ? null : (
    <Select
      name="property"
      id="add-property"
      label="Property"
      options={[
        { value: '', text: 'Choose' },
        ...properties.map(({ name, values }) => ({
          group: name,
          options: values.map((text) => ({ value: `${name}=${text}`, text })),
        })),
      ]}
    />
  );

export type Queries = Record<string, string[]>;

export const searchOf = (queries: Queries) =>
  new URLSearchParams(
    Object.entries(queries).flatMap(([name, values]) => values.map((value) => [name, value])),
  );

/** The query without empty and repeated values. Pairs from the pickers become API parameters. */
export function filledIn(queries: Queries): Queries {
  const { property = [], answer = [], ...rest } = queries;
  const pairs = [
    ...property.map((text) => ['property.', readPair(text)] as const),
    ...answer.map((text) => ['answer.', readPair(text)] as const),
  ];
  for (const [prefix, pair] of pairs) {
    if (pair) rest[prefix + pair.name] = [...(rest[prefix + pair.name] ?? []), pair.value];
  }
  return Object.fromEntries(
    Object.entries(rest)
      .map(
        ([name, values]) => [name, [...new Set(values)].filter((value) => value !== '')] as const,
      )
      .filter(([, values]) => values.length > 0),
  );
}
