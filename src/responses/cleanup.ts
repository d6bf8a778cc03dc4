import type { Db } from '../lib/db/db.ts';
import { deleteInBatches } from '../lib/db/delete-in-batches.ts';
import { mostDaysOfLogs } from '../organizations/retention.ts';
import { deleteOldVisits } from './cleanup.queries.ts';

/** Deletes visits that are too old for any organization. */
export const cleanUpVisits = ({ db }: { db: Db }) =>
  deleteInBatches((atMost) => deleteOldVisits(db, { days: mostDaysOfLogs, atMost }));
