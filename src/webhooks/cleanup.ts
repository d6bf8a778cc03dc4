import type { Db } from '../lib/db/db.ts';
import { listPartitions, timeOf } from '../lib/db/partition-changes.ts';
import { isOver, keptSince } from '../lib/db/partition-stretches.ts';
import { keepPartitions } from '../lib/db/partitions.ts';
import type { Log } from '../lib/log/log.ts';
import { deleteOldDeliveries, deleteOldEvents, listWithOldEvents } from './cleanup.queries.ts';
import { attemptsByTime, endedDeliveriesByTime, keptDays, keptPerWebhook } from './partitions.ts';

const deletedAtOnce = 1000;

/**
 * Drops the partitions of deliveries that are all older than thirty days, but for each webhook's newest, then those of
 * their attempts, and makes those of the next ones. The default partition and events that no delivery is left of are
 * deleted in steps: no lock is held long.
 */
export async function cleanUpDeliveries({ db, log }: { db: Db; log: Log }) {
  const ended = await keepPartitions(db, endedDeliveriesByTime);
  // Attempts at deliveries that have not gone must stay with them.
  const attempts = await keepPartitions(db, attemptsByTime, { drops: !(await hasOld(db)) });
  for (const complaint of [...ended.complaints, ...attempts.complaints]) log.warn(complaint);
  const old = { keep: keptPerWebhook, days: keptDays, atMost: deletedAtOnce };
  while (await deleteOldDeliveries(db, old));
  const before = await oldestKept(db);
  for (const orgId of await listWithOldEvents(db, before)) {
    while (await deleteOldEvents(db, orgId, { before, atMost: deletedAtOnce }));
  }
}

/** Whether a partition of deliveries is left that is to be dropped: by another process, or in the next round. */
async function hasOld(db: Db): Promise<boolean> {
  const now = await timeOf(db);
  const present = await listPartitions(db, endedDeliveriesByTime);
  return present.some((stretch) => isOver(endedDeliveriesByTime, stretch, now));
}

/** Of deliveries before this time each webhook's newest are left, and no others. */
async function oldestKept(db: Db): Promise<Date> {
  const limit = keptSince(endedDeliveriesByTime, await timeOf(db));
  const [oldest] = await listPartitions(db, endedDeliveriesByTime);
  return oldest && oldest.from < limit ? oldest.from : limit;
}
