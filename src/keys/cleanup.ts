import type { Db } from '../lib/db/db.ts';
import { deleteOldIdempotencyKeys } from './idempotency.queries.ts';
import { deleteOldRateWindows } from './rate-windows.queries.ts';

/** So many rows a statement: it must not hold up the requests that it cleans up behind. */
const batch = 5000;

/** Deletes stored answers and rate windows that no request can ask for any more. */
export async function cleanUpKeys({ db }: { db: Db }) {
  while ((await deleteOldIdempotencyKeys(db, batch)) === batch);
  while ((await deleteOldRateWindows(db, batch)) === batch);
}
