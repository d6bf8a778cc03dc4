import type { Db } from '../lib/db/db.ts';
import { deleteOldIdempotencyKeys, deleteOldRateWindows } from './queries.ts';

/** So many rows a statement: it must not hold up the requests that it cleans up behind. */
const batch = 5000;

/** Forgets what no request can ask for any more. */
export async function expire({ db }: { db: Db }) {
  while ((await deleteOldIdempotencyKeys(db, batch)) === batch);
  while ((await deleteOldRateWindows(db, batch)) === batch);
}
