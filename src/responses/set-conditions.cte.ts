import type { Part, Sql } from '../lib/db/db.ts';
import type { SetCondition } from './facet-sets.cte.ts';
import { facetOf } from './facets.cte.ts';
import type { NpsScope } from './scope.cte.ts';

/** What the sets of days know of a scope: all but its range. */
export const scopeConditions = (
  sql: Sql,
  { facets, survey_id, type, audience }: Omit<NpsScope, 'range'>,
): SetCondition[] => [
  ...facets.map((facet) => ({ facet: facetOf(sql, facet), mayBeFew: true })),
  ...columnCondition(sql, 'survey', survey_id?.toLowerCase() ?? null),
  ...columnCondition(sql, 'type', type),
  ...yesOrNo(sql, 'employees', audience === null ? null : audience === 'employee'),
];

/** That a column has a value; null is no condition. */
export const columnCondition = (sql: Sql, kind: string, value: string | null): SetCondition[] =>
  value === null ? [] : [{ facet: columnFacet(sql, kind, sql`${value}::text`) }];

export const yesOrNo = (sql: Sql, kind: string, is: boolean | null): SetCondition[] =>
  is === null ? [] : [{ facet: columnFacet(sql, kind, sql`''`), isNot: !is }];

export const columnFacet = (sql: Sql, kind: string, value: Part): Part =>
  sql`facet_of(${kind}::text, '', ${value})`;
