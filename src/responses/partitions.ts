import type { PartitionedTable } from '../lib/db/partition-stretches.ts';
import { mostDaysOfLogs } from '../organizations/retention.ts';

/** Visits go half a month at a time: few partitions to look into, and none that stays much longer than its rows. */
export const visitsByTime: PartitionedTable = {
  table: 'link_visits',
  column: 'visited_at',
  bound: 'timestamptz',
  stretchDays: 15,
  keptDays: mostDaysOfLogs,
};
