import type { Db } from '../lib/db/db.ts';
import { deleteInBatches } from '../lib/db/delete-in-batches.ts';
import { mostDaysOfLogs } from '../organizations/retention.ts';
import { deleteOldBlockedMails } from './queries.ts';

/** Deletes records of blocked mails that are too old for any organization. */
export const cleanUpBlockedMails = ({ db }: { db: Db }) =>
  deleteInBatches((atMost) => deleteOldBlockedMails(db, { days: mostDaysOfLogs, atMost }));
