import type { Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';
import type { SetCondition, SetRows } from './facet-sets.cte.ts';
import { filteredRows, isTallied, memberOf, noOwner, type ResponseFilter } from './filter.cte.ts';
import { columnCondition, columnFacet, scopeConditions, yesOrNo } from './set-conditions.cte.ts';

/** Whether the filtered responses are found by the sets of days. */
export const readsSets = (filter: ResponseFilter) =>
  !isTallied(filter) && !filter.held && filter.pattern === null;

export const setRows = (sql: Sql, orgId: OrgId, filter: ResponseFilter): SetRows => ({
  conditions: conditionsOf(sql, orgId, filter),
  range: filter.range,
  rows: filteredRows(sql, orgId, { ...filter, range: { from: null, to: null } }),
});

type SetFilter = Omit<ResponseFilter, 'range' | 'pattern' | 'held'>;

function conditionsOf(sql: Sql, orgId: OrgId, filter: SetFilter): SetCondition[] {
  const { category, hasComment, language, state, owner } = filter;
  return [
    ...scopeConditions(sql, filter),
    ...columnCondition(sql, 'category', category),
    ...yesOrNo(sql, 'comment', hasComment),
    ...columnCondition(sql, 'language', language),
    ...columnCondition(sql, 'state', state),
    ...ownedBy(sql, orgId, owner),
  ];
}

function ownedBy(sql: Sql, orgId: OrgId, owner: string | null): SetCondition[] {
  if (owner === null) return [];
  if (owner === noOwner) return yesOrNo(sql, 'owned', false);
  return [{ facet: columnFacet(sql, 'owner', sql`(${memberOf(sql, orgId, owner)})::text`) }];
}
