import type { Db } from '../lib/db/db.ts';
import { deleteOldEvents } from './queries.ts';

/** So many rows a statement, so that no transaction becomes long. */
const batch = 5000;

export async function cleanUpAudit({ db }: { db: Db }) {
  while ((await deleteOldEvents(db, batch)) === batch);
}
