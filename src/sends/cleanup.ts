import type { Db } from '../lib/db/db.ts';
import { keepPartitions } from '../lib/db/partitions.ts';
import type { Log } from '../lib/log/log.ts';
import { mostDaysOfLogs } from '../organizations/retention.ts';
import { deleteOldBlockedMails } from './cleanup.queries.ts';
import { blockedMailsByDay } from './partitions.ts';

const deletedAtOnce = 5000;

/**
 * Drops the partitions whose blocked mails are too old for any organization and makes those of the next ones. What the
 * default partition has is deleted in batches, so that no lock is held for long.
 */
export async function cleanUpBlockedMails({ db, log }: { db: Db; log: Log }) {
  const { complaints } = await keepPartitions(db, blockedMailsByDay);
  for (const complaint of complaints) log.warn(complaint);
  const old = { days: mostDaysOfLogs, atMost: deletedAtOnce };
  while ((await deleteOldBlockedMails(db, old)) === deletedAtOnce);
}
