import type { Db } from '../lib/db/db.ts';
import { mostDaysOfLogs } from '../organizations/retention.ts';
import { deleteOldBlockedMails } from './cleanup.queries.ts';

const deletedAtOnce = 5000;

/** Deletes blocked mails that are too old for any organization, in batches so that no lock is held for long. */
export async function cleanUpBlockedMails({ db }: { db: Db }) {
  const old = { days: mostDaysOfLogs, atMost: deletedAtOnce };
  while ((await deleteOldBlockedMails(db, old)) === deletedAtOnce);
}
