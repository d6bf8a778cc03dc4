import type { Db } from '../lib/db/db.ts';
import { deleteOldBlockedMails } from './cleanup.queries.ts';

const keptDays = 90;
const deletedAtOnce = 5000;

/** Deletes blocked mails older than 90 days, in batches so that no lock is held for long. */
export async function cleanUpBlockedMails({ db }: { db: Db }) {
  const old = { days: keptDays, atMost: deletedAtOnce };
  while ((await deleteOldBlockedMails(db, old)) === deletedAtOnce);
}
