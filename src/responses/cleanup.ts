import type { Db } from '../lib/db/db.ts';
import { mostDaysOfLogs } from '../organizations/retention.ts';
import { deleteOldVisits } from './cleanup.queries.ts';

const deletedAtOnce = 5000;

/** Deletes link visits that are too old for any organization, in batches so that no lock is held for long. */
export async function cleanUpVisits({ db }: { db: Db }) {
  const old = { days: mostDaysOfLogs, atMost: deletedAtOnce };
  while ((await deleteOldVisits(db, old)) === deletedAtOnce);
}
