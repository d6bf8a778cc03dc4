import { setTimeout as sleep } from 'node:timers/promises';
import type { Part, Sql } from './db.ts';

const batchSize = 5000;
const maxPauseMs = 1000;

/**
 * Deletes up to `maxRows` rows at a time until fewer are left, and returns the number of deleted rows. Batches keep
 * locks short. The pause after each batch leaves requests at least half of the database's time.
 */
export async function deleteInBatches(
  deleteBatch: (maxRows: number) => Promise<number>,
  maxRows = batchSize,
): Promise<number> {
  for (let total = 0; ; ) {
    const startedAt = performance.now();
    const deleted = await deleteBatch(maxRows);
    total += deleted;
    if (deleted < maxRows) return total;
    await sleep(Math.min(performance.now() - startedAt, maxPauseMs));
  }
}

export const deleteRows = (sql: Sql, table: string, condition: Part) =>
  deleteInBatches(async (maxRows) => {
    const { count } = await sql`
      delete from ${sql(table)}
      where ctid = any(array(
        select ctid from ${sql(table)} where ${condition} limit ${maxRows} for update skip locked
      ))`;
    return count;
  }, 1000);
