import type * as v from 'valibot';
import { Refusal } from '../errors.ts';
import { type Db, likePattern, type Sql } from '../lib/db/db.ts';
import { runAbortable } from '../lib/db/fair-pool.ts';
import { parseList } from '../lib/paging/page.ts';
import { everything, type Facet, type NpsScope, type ResponseFilter } from './filter.queries.ts';
import { endOf, firstOf, type Instants } from './period.ts';
import type { NpsQuery, ResponseQuery } from './schemas.ts';

type ScopeQuery = Pick<NpsQuery, 'survey_id' | 'type' | 'audience' | 'round'> &
  Pick<NpsScope, 'facets'>;
export const scopeOf = ({ facets, ...query }: ScopeQuery) => ({
  ...everything,
  ...surveysOf(query),
  facets,
});

const surveysOf = ({ survey_id, type, audience, round }: Omit<ScopeQuery, 'facets'>) => ({
  survey_id: survey_id ?? null,
  type: type ?? null,
  audience: audience ?? null,
  round: round ?? null,
});

type ListQuery = Omit<ResponseQuery, 'page' | 'limit' | 'cursor'> & Pick<NpsScope, 'facets'>;

export const filterOf = ({ search, held, facets, ...query }: ListQuery): ResponseFilter => ({
  ...surveysOf(query),
  category: query.category ?? null,
  pattern: search ? likePattern(search) : null,
  range: rangeOf(query),
  held,
  facets,
  hasComment: query.has_comment ?? null,
  language: query.language || null,
  state: query.state ?? null,
  owner: query.owner || null,
});

type Dates = { date_from?: Instants | undefined; date_to?: Instants | undefined; tz: string };
export const rangeOf = ({ date_from, date_to, tz }: Dates) => ({
  from: date_from ? firstOf(date_from, tz) : null,
  to: date_to ? endOf(date_to, tz) : null,
});

/** The trigram index does not help with one or two letters: such a search reads every comment. */
const searchLimitMs = 10_000;

/** Aborts the search when it takes too long or its caller has gone. */
export async function runSearch<T>(
  db: Db,
  callerGone: AbortSignal,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const tooLong = AbortSignal.timeout(searchLimitMs);
  try {
    return await runAbortable(db, AbortSignal.any([callerGone, tooLong]), work);
  } catch (error) {
    if (tooLong.aborted && error === tooLong.reason) throw tooSlow();
    if (callerGone.aborted && error === callerGone.reason) throw callerLeft();
    throw error;
  }
}

const tooSlow = () =>
  new Refusal(
    'unprocessable',
    `the search took longer than ${searchLimitMs / 1000} seconds: search for more letters, or in a shorter date range`,
    { code: 'search_too_slow' },
  );

const callerLeft = () => new Refusal('invalid', 'the client closed the request');

/** Each facet costs an index lookup per row. */
const maxFacets = 10;

type Queries = Record<string, string[]>;
type Entries = v.ObjectEntries;

export function parseFiltered<const E extends Entries>(
  schema: v.ObjectSchema<E, undefined>,
  queries: Queries,
) {
  const query = parseList(schema, queries);
  const {
    tag = [],
    sentiment,
    theme,
  } = query as { tag?: string[]; sentiment?: string; theme?: string };
  const facets: Facet[] = [
    ...facetsNamed(queries, 'property'),
    ...facetsNamed(queries, 'answer'),
    ...tag.map((id): Facet => ({ kind: 'tag', name: '', value: id.toLowerCase() })),
    ...(sentiment ? [{ kind: 'sentiment', name: '', value: sentiment } as const] : []),
    ...(theme ? [{ kind: 'theme', name: '', value: theme.trim().toLowerCase() } as const] : []),
  ];
  if (facets.length > maxFacets) {
    throw new Refusal(
      'invalid',
      `use at most ${maxFacets} filters by tag, property, sentiment, theme and answer`,
    );
  }
  return { ...query, facets, ignored: withoutProperties(query.ignored) };
}

const withoutProperties = (names: readonly string[]) =>
  names.filter((name) => !name.startsWith('property.') && !name.startsWith('answer.'));

/** The facets of parameters such as `property.plan=pro`. */
const facetsNamed = (queries: Queries, kind: 'property' | 'answer'): Facet[] =>
  Object.entries(queries).flatMap(([parameter, values]) => {
    if (!parameter.startsWith(`${kind}.`)) return [];
    const facets = values.map((value) => ({ kind, name: parameter.slice(kind.length + 1), value }));
    if (facets.every(isWellFormed)) return facets;
    const form =
      kind === 'property' ? 'property.NAME=value' : 'answer.QUESTION_ID=OPTION_ID or VALUE';
    throw new Refusal('invalid', `${parameter}: must be ${form}`);
  });

const isWellFormed = ({ kind, name, value }: Facet) =>
  kind === 'property' ? name !== '' : /^q_[\w-]{1,40}$/.test(name) && /^[\w-]{1,40}$/.test(value);
