import { commentNeighbours } from './neighbours-comments.ts';
import { mailNeighbours } from './neighbours-mail.ts';
import { poolNeighbours } from './neighbours-pool.ts';
import { deliveryNeighbours, replayNeighbours } from './neighbours-webhooks.ts';

/**
 * One shared thing: while one organization does its worst with it, another makes its ordinary use of it.
 * The other's times are compared with those on an idle service, and every wrong outcome is a sentence.
 */
export type Neighbours = {
  shared: string;
  measure: (databaseUrl: string) => Promise<NeighbourTimes>;
};

export type NeighbourTimes = { idleMs: number[]; crowdedMs: number[]; wrong: string[] };

/** A new row here is a new shared thing. */
const rows: readonly Neighbours[] = [
  mailNeighbours,
  commentNeighbours,
  poolNeighbours,
  deliveryNeighbours,
  replayNeighbours,
];

/** How many times slower than on an idle service the other organization may be. */
const mostTimes = 3;
/** Below this nothing counts as slow: the machine itself is that unsteady. */
const unsteadyMs = 100;

export async function* runNeighbours(databaseUrl: string) {
  for (const { shared, measure } of rows) {
    const { idleMs, crowdedMs, wrong } = await measure(databaseUrl);
    const [idle, crowded] = [percentiles(idleMs), percentiles(crowdedMs)];
    const allowedMs = Math.max(mostTimes * idle.p99, unsteadyMs);
    if (crowded.p99 > allowedMs) {
      wrong.push(`${shared}: ${crowded.p99} ms, on an idle service ${idle.p99} ms`);
    }
    const counts = {
      ...{ shared, calls: crowdedMs.length, idle_p50: idle.p50, idle_p99: idle.p99 },
      ...{ crowded_p50: crowded.p50, crowded_p99: crowded.p99, wrong: wrong.length },
    };
    yield { counts, wrong };
  }
}

function percentiles(times: readonly number[]) {
  const sorted = times.toSorted((one, other) => one - other);
  const part = (share: number) => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? NaN);
  return { p50: part(0.5), p99: part(0.99) };
}

/** How long a call takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begunAt = performance.now();
  await work();
  return performance.now() - begunAt;
}
