import { likePattern } from '../lib/db/like-pattern.ts';
import type { ResponseFilter } from './filter.cte.ts';
import { endOf, firstOf } from './local-day.ts';
import type { NpsQuery } from './nps.schemas.ts';
import type { Instants } from './range.ts';
import type { ResponseQuery } from './schemas.ts';
import { everything, type NpsScope } from './scope.cte.ts';

type ScopeQuery = Pick<NpsQuery, 'survey_id' | 'type' | 'audience'> & Pick<NpsScope, 'facets'>;
export const scopeOf = ({ facets, ...query }: ScopeQuery) => ({
  ...everything,
  ...surveysOf(query),
  facets,
});

const surveysOf = ({ survey_id, type, audience }: Omit<ScopeQuery, 'facets'>) => ({
  survey_id: survey_id ?? null,
  type: type ?? null,
  audience: audience ?? null,
});

type ListQuery = Omit<ResponseQuery, 'page' | 'limit' | 'cursor'> & Pick<NpsScope, 'facets'>;

/** An empty search is no search: every answer has that part. */
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
