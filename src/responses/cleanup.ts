import type { Db } from '../lib/db/db.ts';
import { deleteOldVisits } from './cleanup.queries.ts';

const keptDays = 90;
const deletedAtOnce = 5000;

/** Deletes link visits older than 90 days, in batches so that no lock is held for long. */
export async function cleanUpVisits({ db }: { db: Db }) {
  const old = { days: keptDays, atMost: deletedAtOnce };
  while ((await deleteOldVisits(db, old)) === deletedAtOnce);
}
