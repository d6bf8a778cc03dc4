import { Icon } from '../web/app/icon.tsx';

const prefix = 'property.';

type FilterChipProps = {
  path: string;
  query: URLSearchParams;
  name: string;
  value: string;
  /** The filter in words: `Category`, `detractor`. */
  label?: string | undefined;
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
        {label ? (
          <>
            <bdi>{label}</bdi>:{' '}
          </>
        ) : null}
        <bdi>{text}</bdi>
      </span>
      <a
        href={rest.size === 0 ? path : `${path}?${rest}`}
        aria-label={`Remove the filter ${label ? `${label}: ` : ''}${text}`}
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
          {...{ path, query, name, value }}
          label={name.slice(prefix.length)}
          text={value}
        />
      ))}
    </p>
  );
}
