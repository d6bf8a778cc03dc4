import type { Db } from '../lib/db/db.ts';
import { deleteInBatches } from '../lib/db/delete-in-batches.ts';
import { deleteOldDeliveries, deleteOldEvents, listWithOldEvents } from './cleanup.queries.ts';

/** The newest deliveries of each webhook stay, however old they are. */
const keptPerWebhook = 50;
const days = 30;

/** Deletes old deliveries with their attempts, then the events that no delivery is left of. */
export async function cleanUpDeliveries({ db }: { db: Db }) {
  await deleteInBatches((atMost) =>
    deleteOldDeliveries(db, { keep: keptPerWebhook, days, atMost }),
  );
  for (const orgId of await listWithOldEvents(db, days)) {
    await deleteInBatches((atMost) => deleteOldEvents(db, orgId, { days, atMost }));
  }
}
