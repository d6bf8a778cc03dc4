import { type Crowd, uses } from './neighbour-crowd.ts';
import { openScene } from './neighbour-scene.ts';

/** How many times slower than on an idle service the other organization may be. */
const mostTimes = 3;
/** Below this nothing counts as slow: the machine itself is that unsteady. */
const unsteadyMs = 100;

/**
 * For each shared thing one organization does its worst with it, while another calls the API, is answered, has
 * an event delivered and sends a mail. The other's times are compared with those on the idle service, and every
 * wrong outcome is a sentence.
 */
export async function* runNeighbours(databaseUrl: string, crowds: readonly Crowd[]) {
  for (const crowd of crowds) {
    const { idle, crowded, wrong } = await measure(databaseUrl, crowd);
    for (const use of uses) {
      const [before, during] = [percentiles(idle[use]), percentiles(crowded[use])];
      const allowedMs = Math.max(mostTimes * before.p99, unsteadyMs);
      const tooSlow =
        during.p99 > allowedMs
          ? [`${crowd.shared}, ${use}: ${during.p99} ms, on an idle service ${before.p99} ms`]
          : [];
      const counts = {
        shared: crowd.shared,
        use,
        times: crowded[use].length,
        idle_p50: before.p50,
        idle_p99: before.p99,
        crowded_p50: during.p50,
        crowded_p99: during.p99,
        wrong: wrong[use].length,
      };
      yield { counts, wrong: [...tooSlow, ...wrong[use]] };
    }
  }
}

async function measure(databaseUrl: string, crowd: Crowd) {
  const scene = await openScene(databaseUrl, crowd);
  try {
    await scene.useAll(10); // the first connections and plans are no part of the comparison
    const idle = (await scene.useAll()).times;
    await scene.crowd.begin();
    const { times: crowded, wrong } = await scene.useAll();
    const wrongInCrowd = await scene.crowd.leave();
    for (const use of uses) wrong[use].push(...wrongInCrowd[use]);
    return { idle, crowded, wrong };
  } finally {
    await scene.close();
  }
}

function percentiles(times: readonly number[]) {
  const sorted = times.toSorted((one, other) => one - other);
  const part = (share: number) => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? NaN);
  return { p50: part(0.5), p99: part(0.99) };
}
