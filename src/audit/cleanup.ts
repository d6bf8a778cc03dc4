import type { Db } from '../lib/db/db.ts';
import { deleteOldEvents, deleteSurplusEvents, listCrowded } from './queries.ts';

/** So many rows a statement, so that no transaction becomes long. */
const batch = 5000;
/** Of an organization. A key that writes at its limit all day comes to so many in a week. */
const keptOfPrograms = 1_000_000;

/**
 * Deletes events of more than 400 days ago, and of organizations with very many the oldest of what keys and visitors
 * did: a program in a loop fills no disk. What members and operators did stays its whole time.
 */
export async function cleanUpAudit({ db, kept = keptOfPrograms }: { db: Db; kept?: number }) {
  while ((await deleteOldEvents(db, batch)) === batch);
  for (const orgId of await listCrowded(db, kept)) {
    while ((await deleteSurplusEvents(db, orgId, { kept, limit: batch })) === batch);
  }
}
