import type { Db } from '../lib/db/db.ts';
import { deleteOldOpenings } from './cleanup.queries.ts';

const keptDays = 90;
const deletedAtOnce = 5000;

/** Forgets who opened a link when, after ninety days; in steps, so that no lock is long. */
export async function deleteOldVisits({ db }: { db: Db }) {
  const old = { days: keptDays, atMost: deletedAtOnce };
  while ((await deleteOldOpenings(db, old)) === deletedAtOnce);
}
