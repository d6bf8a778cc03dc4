import type { Part, Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';
import type { SurveyType } from '../scores.ts';
import type { Facet } from './facets.cte.ts';
import type { Range } from './range.ts';

/** Which answers are counted: those of an organization, less what a filter leaves out. */
export type NpsScope = {
  survey_id: string | null;
  type: SurveyType | null;
  audience: 'employee' | 'customer' | null;
  range: Range;
  facets: readonly Facet[];
};

export const everything: NpsScope = {
  survey_id: null,
  type: null,
  audience: null,
  range: { from: null, to: null },
  facets: [],
};

/** The condition that leaves the surveys in scope. */
export function chosenSurveys(sql: Sql, orgId: OrgId, { survey_id, type, audience }: NpsScope) {
  const one = survey_id ? sql`and survey_id = ${survey_id}` : sql``;
  if (!type && !audience) return one;
  return sql`${one} and survey_id in (${surveysOfKind(sql, orgId, { type, audience })})`;
}

/**
 * The same for many short ranges of time. As a join, and by an index that begins with the survey, each would be looked up
 * for each survey. No such index has category and score, which is never negative: so ranges are read by time.
 */
export const ofKindByTime = (sql: Sql, orgId: OrgId, { type, audience }: NpsScope) =>
  type || audience
    ? sql`and score >= 0 and (survey_id in (${surveysOfKind(sql, orgId, { type, audience })})) is true`
    : sql``;

type SurveyKind = Pick<NpsScope, 'type' | 'audience'>;

export const surveysOfKind = (sql: Sql, orgId: OrgId, kind: SurveyKind): Part => sql`
  select id
  from surveys
  where org_id = ${orgId} and ${ofKind(sql, kind)}`;

const ofKind = (sql: Sql, { type, audience }: SurveyKind): Part => sql`
  ${type ? sql`type = ${type}` : sql`true`}
  ${audience ? sql`and (audience = 'employee') is ${audience === 'employee' ? sql`true` : sql`not true`}` : sql``}`;
