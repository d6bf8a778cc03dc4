import { LinkButton } from '../web/app/forms.tsx';
import { readPair } from './rules.ts';

const prefix = 'property.';

/** Turns `property=plan=pro`, as typed into the form, into the API's `property.plan=pro`. */
export function withTypedProperties(queries: Record<string, string[]>): Record<string, string[]> {
  const { property: typed = [], ...rest } = queries;
  for (const text of typed) {
    const pair = readPair(text);
    if (!pair) continue;
    const key = prefix + pair.name;
    rest[key] = [...new Set([...(rest[key] ?? []), pair.value])];
  }
  return rest;
}

type PropertyFiltersProps = { path: string; query: URLSearchParams };

/** Active property filters, each with a link that removes it. */
export function PropertyFilters({ path, query }: PropertyFiltersProps) {
  const properties = [...query].filter(([name]) => name.startsWith(prefix));
  if (properties.length === 0) return null;
  return (
    <ul class="acts" aria-label="Property filters">
      {properties.map(([parameter, value]) => {
        const name = parameter.slice(prefix.length);
        return (
          <li>
            <span class="mono">
              <bdi>{name}</bdi> = <bdi>{value}</bdi>
            </span>{' '}
            <LinkButton
              href={`${path}?${without(query, parameter, value)}`}
              text="Remove"
              about={`the filter ${name} = ${value}`}
              kind="quiet"
            />
          </li>
        );
      })}
    </ul>
  );
}

function without(query: URLSearchParams, name: string, value: string): URLSearchParams {
  const rest = new URLSearchParams(query);
  rest.delete(name, value);
  rest.delete('page');
  return rest;
}
