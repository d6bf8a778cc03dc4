import { setTimeout as sleep } from 'node:timers/promises';

const batchSize = 5000;
const maxRestMs = 1000;

/**
 * Repeats a delete of at most `atMost` rows until one returns fewer, and returns how many it deleted. Each batch is
 * short, so that no lock is held long, and rests as long as it took: requests have the database at least half of the
 * time.
 */
export async function deleteInBatches(
  deleteBatch: (atMost: number) => Promise<number>,
  atMost = batchSize,
): Promise<number> {
  for (let total = 0; ; ) {
    const begun = performance.now();
    const deleted = await deleteBatch(atMost);
    total += deleted;
    if (deleted < atMost) return total;
    await sleep(Math.min(performance.now() - begun, maxRestMs));
  }
}
