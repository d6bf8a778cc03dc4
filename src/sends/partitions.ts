import type { PartitionedTable } from '../lib/db/partition-stretches.ts';
import { mostDaysOfLogs } from '../organizations/retention.ts';

export const blockedMailsByDay: PartitionedTable = {
  table: 'blocked_mails',
  column: 'blocked_on',
  bound: 'date',
  stretchDays: 15,
  keptDays: mostDaysOfLogs,
};
