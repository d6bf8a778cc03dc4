/** A batch takes about as long as a slow request, so that a lock of it delays none for longer. */
const wantedMs = 100;
const largestSize = 10_000;
const leastPauseMs = 20;
const longestPauseMs = 10_000;
/** A step has Postgres for a quarter of the time. */
const restAfterWork = 3;

export const smallestSize = 1;

/** Twice as many rows while batches are quick, half as many when one was slow. */
export function nextSize(size: number, ms: number): number {
  if (ms > 2 * wantedMs) return Math.max(smallestSize, Math.floor(size / 2));
  return ms < wantedMs / 2 ? Math.min(largestSize, size * 2) : size;
}

/** What delays a batch delays requests as well: it rests longer after a slow one. */
export const pauseAfter = (ms: number): number =>
  Math.min(longestPauseMs, Math.max(leastPauseMs, restAfterWork * ms));
