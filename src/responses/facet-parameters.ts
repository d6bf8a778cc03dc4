import type * as v from 'valibot';
import { Refusal } from '../errors.ts';
import { parseList, unknownParameters } from '../lib/paging/page.ts';
import type { Facet } from './facets.cte.ts';

const prefix = 'property.';
/** Each is a look into an index for every row. */
const mostFacets = 10;

type Queries = Record<string, string[]>;
type Entries = v.ObjectEntries;

/** The checked parameters of a list or a total, together with the facets that they ask for. */
export function parseFiltered<const E extends Entries>(
  schema: v.ObjectSchema<E, undefined>,
  queries: Queries,
) {
  const query = parseList(schema, queries);
  const { tag = [], sentiment } = query as { tag?: string[]; sentiment?: string };
  const facets: Facet[] = [
    ...propertiesIn(queries),
    ...tag.map((id): Facet => ({ kind: 'tag', name: '', value: id.toLowerCase() })),
    ...(sentiment ? [{ kind: 'sentiment', name: '', value: sentiment } as const] : []),
  ];
  if (facets.length > mostFacets) {
    throw new Refusal('invalid', `at most ${mostFacets} tags and properties can be asked for`);
  }
  return { ...query, facets, ignored: withoutProperties(query.ignored) };
}

/** The parameters that a list or a total does not know. */
export const ignoredParameters = (
  schema: v.ObjectSchema<Entries, undefined>,
  queries: Queries,
): string[] => withoutProperties(unknownParameters(schema, queries));

const withoutProperties = (names: readonly string[]) =>
  names.filter((name) => !name.startsWith(prefix));

function propertiesIn(queries: Queries): Facet[] {
  return Object.entries(queries).flatMap(([parameter, values]) => {
    if (!parameter.startsWith(prefix)) return [];
    const name = parameter.slice(prefix.length);
    if (name === '')
      throw new Refusal('invalid', `${parameter}: the name of a property is missing`);
    return values.map((value): Facet => ({ kind: 'property', name, value }));
  });
}
