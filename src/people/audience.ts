import * as v from 'valibot';
import { insertPeople } from '../contacts/queries.ts';
import type { Part, Sql } from '../lib/db/db.ts';
import { Id } from '../lib/paging/page.ts';
import { Uuid } from '../lib/validation/parse.ts';
import type { OrgId } from '../limits.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { Filter, FilterInput, matchesFilter, type PeopleFilter } from './filter.ts';
import { lockSegmentForUse } from './segments.ts';

/** People that a campaign or the rounds of a survey ask: everybody in the directory, a segment, or a filter. */
export type Audience = 'people' | { segment_id: string } | { filter: PeopleFilter };

export const AudienceInput = v.union(
  [
    v.literal('people'),
    v.strictObject({ segment_id: Uuid }),
    v.strictObject({ filter: FilterInput }),
  ],
  'must be "people", {"segment_id": ID} or {"filter": {"all": [...]}}',
);

export const AudienceItem = v.union([
  v.literal('people'),
  v.object({ segment_id: Id }),
  v.object({ filter: Filter }),
]);

/** The filter of an audience. A segment cannot be deleted until the transaction ends. */
export async function filterOfAudience(sql: Sql, orgId: string, audience: Audience) {
  if (audience === 'people') return { all: [] };
  if ('filter' in audience) return audience.filter;
  return (await lockSegmentForUse(sql, orgId, audience.segment_id)).filter;
}

/** People `p` of an organization that match a filter. */
export const peopleMatching = (sql: Sql, orgId: OrgId, filter: PeopleFilter): Part => sql`
  people p where p.org_id = ${orgId} and ${matchesFilter(sql, orgId, filter)}`;

const peoplePerBatch = 20_000;

/**
 * Adds people that match a filter to a survey, with their name, properties and language. Skips its contacts. Returns
 * the number of added people. The survey must be locked with `lockForContacts`.
 */
export async function addAudience(tx: Sql, survey: OrgSurvey, filter: PeopleFilter) {
  const people = peopleMatching(tx, survey.orgId, filter);
  let added = 0;
  for (let count = peoplePerBatch; count === peoplePerBatch; added += count) {
    count = (await insertPeople(tx, survey, { people, atMost: peoplePerBatch })).length;
  }
  return added;
}
