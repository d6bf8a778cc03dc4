import type { Part, Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';
import type { SetCondition, SetRows } from './facet-sets.cte.ts';
import { facetOf } from './facets.cte.ts';
import { filteredRows, isTallied, memberOf, noOwner, type ResponseFilter } from './filter.cte.ts';

/** Whether the filtered responses are found by the sets of days. */
export const readsSets = (filter: ResponseFilter) =>
  !isTallied(filter) && !filter.held && filter.pattern === null;

export const setRows = (sql: Sql, orgId: OrgId, filter: ResponseFilter): SetRows => ({
  conditions: conditionsOf(sql, orgId, filter),
  range: filter.range,
  rows: filteredRows(sql, orgId, { ...filter, range: { from: null, to: null } }),
});

type SetFilter = Omit<ResponseFilter, 'range' | 'pattern' | 'held'>;

export function conditionsOf(sql: Sql, orgId: OrgId, filter: SetFilter): SetCondition[] {
  const { survey_id, type, audience, category, facets, hasComment, language, state } = filter;
  const known = (kind: string, value: string | null): SetCondition[] =>
    value === null ? [] : [{ facet: ofColumn(sql, kind, sql`${value}::text`) }];
  return [
    ...facets.map((facet) => ({ facet: facetOf(sql, facet), mayBeFew: true })),
    ...known('survey', survey_id?.toLowerCase() ?? null),
    ...known('type', type),
    ...yesOrNo(sql, 'employees', audience === null ? null : audience === 'employee'),
    ...known('category', category),
    ...yesOrNo(sql, 'comment', hasComment),
    ...known('language', language),
    ...known('state', state),
    ...ownedBy(sql, orgId, filter.owner),
  ];
}

const ofColumn = (sql: Sql, kind: string, value: Part) =>
  sql`facet_of(${kind}::text, '', ${value})`;

function yesOrNo(sql: Sql, kind: string, is: boolean | null): SetCondition[] {
  return is === null ? [] : [{ facet: ofColumn(sql, kind, sql`''`), isNot: !is }];
}

function ownedBy(sql: Sql, orgId: OrgId, owner: string | null): SetCondition[] {
  if (owner === null) return [];
  if (owner === noOwner) return yesOrNo(sql, 'owned', false);
  return [{ facet: ofColumn(sql, 'owner', sql`(${memberOf(sql, orgId, owner)})::text`) }];
}
