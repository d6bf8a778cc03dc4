import type { Sql } from '../lib/db/db.ts';
import { largestPropertiesBytes } from '../limits.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { listLargeMerges } from './many.queries.ts';
import { type CheckedContact, complainOfProperties } from './rules.ts';

/**
 * What is wrong with the properties that contacts would have after theirs are merged into those they
 * have, by the key of the contact. The survey must be locked, so that it is true until they are saved.
 */
export async function complainOfMerges(
  tx: Sql,
  survey: OrgSurvey,
  contacts: readonly CheckedContact[],
): Promise<ReadonlyMap<string, string>> {
  const additions = contacts
    .filter(({ properties }) => Object.keys(properties).length > 0)
    .map(({ key, properties }) => ({ key, properties }));
  if (additions.length === 0) return new Map();
  const merges = await listLargeMerges(tx, survey, additions, largestPropertiesBytes);
  const complaints = merges.flatMap(({ key, properties }) => {
    const complaint = complainOfProperties(properties);
    return complaint ? [[key, `with those the contact has, ${complaint}`] as const] : [];
  });
  return new Map(complaints);
}
