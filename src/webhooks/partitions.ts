import type { PartitionedTable } from '../lib/db/partition-stretches.ts';
import { keepAttempts, keepNewest } from './partitions.queries.ts';

/** So many newest deliveries of each webhook stay, however old they are. */
export const keptPerWebhook = 50;
export const keptDays = 30;

export const endedDeliveriesByTime: PartitionedTable = {
  table: 'ended_deliveries',
  column: 'id',
  bound: 'least_id_at',
  stretchDays: 10,
  keptDays,
  keep: (tx, going) => keepNewest(tx, going, keptPerWebhook),
};

/** Attempts lie by the id of their delivery: they go after it. */
export const attemptsByTime: PartitionedTable = {
  table: 'delivery_attempts',
  column: 'delivery_id',
  bound: 'least_id_at',
  stretchDays: 10,
  keptDays,
  keep: keepAttempts,
};
