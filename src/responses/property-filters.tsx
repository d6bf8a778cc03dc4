import { LinkButton } from '../web/app/forms.tsx';
import { readPair } from './rules.ts';

const prefix = 'property.';

/** The queries with what was typed as `plan=pro` under the name that the API has for it. */
export function withTypedProperties(queries: Record<string, string[]>): Record<string, string[]> {
  const { property: typed = [], ...named } = queries;
  for (const text of typed) {
    const pair = readPair(text);
    if (!pair) continue;
    const key = prefix + pair.name;
    named[key] = [...new Set([...(named[key] ?? []), pair.value])];
  }
  return named;
}

type PropertyFiltersProps = { path: string; query: URLSearchParams };

/** The properties that are asked for, each with a link to the list without it. */
export function PropertyFilters({ path, query }: PropertyFiltersProps) {
  const asked = [...query].filter(([name]) => name.startsWith(prefix));
  if (asked.length === 0) return null;
  return (
    <ul class="actions" aria-label="Properties asked for">
      {asked.map(([parameter, value]) => {
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
              kind="more"
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
