import type { Db, Sql } from '../lib/db/db.ts';
import { addPartitions, timeOf } from '../lib/db/partition-changes.ts';
import { type PartitionedTable, stretchesKept } from '../lib/db/partition-stretches.ts';
import { keepPartitions, listLacking } from '../lib/db/partitions.ts';
import { visitsByTime } from '../responses/partitions.ts';
import { blockedMailsByDay } from '../sends/partitions.ts';
import { attemptsByTime, endedDeliveriesByTime } from '../webhooks/partitions.ts';

const divided: readonly PartitionedTable[] = [
  visitsByTime,
  blockedMailsByDay,
  endedDeliveriesByTime,
  attemptsByTime,
];

/** Makes the partitions that the next rows need, and returns why one cannot be made. The nightly jobs try again. */
export async function makePartitionsAhead(db: Db): Promise<string[]> {
  const complaints: string[] = [];
  for (const table of await listLacking(db, divided)) {
    const round = await keepPartitions(db, table, { tries: 1, drops: false });
    complaints.push(...round.complaints);
  }
  return complaints;
}

/** Adds partitions for all that a backup may have, so that its rows need not move out of the default ones. */
export async function addPartitionsKept(tx: Sql) {
  const now = await timeOf(tx);
  for (const table of divided) await addPartitions(tx, table, stretchesKept(table, now));
}
