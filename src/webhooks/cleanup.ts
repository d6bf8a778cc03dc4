import type { Db } from '../lib/db/db.ts';
import { deleteOldDeliveries, deleteOldEvents, listWithOldEvents } from './cleanup.queries.ts';

const keptPerWebhook = 50;
const keptDays = 30;
const deletedAtOnce = 1000;

/**
 * Deletes deliveries older than thirty days but for each webhook's newest, then events that no delivery is
 * left of, in steps: no lock is held long.
 */
export async function cleanUpDeliveries({ db }: { db: Db }) {
  const old = { keep: keptPerWebhook, days: keptDays, atMost: deletedAtOnce };
  while (await deleteOldDeliveries(db, old));
  for (const orgId of await listWithOldEvents(db, keptDays)) {
    while (await deleteOldEvents(db, orgId, old));
  }
}
