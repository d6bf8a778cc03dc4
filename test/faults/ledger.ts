import type { Arrival } from './arrivals.ts';

export type FaultKind = 'kill' | 'postgres restart' | 'ended backend';

/** A fault, and the deliveries that were in flight at the time. */
export type Fault = {
  kind: FaultKind;
  /** From this time (ms), a live process could resume the work. */
  aliveAt: number;
  /** Deliveries that were claimed at the time of the fault. The owners of orphans are dead. */
  inFlight: ReadonlySet<string>;
  orphans: ReadonlySet<string>;
};

type Books = {
  webhooks: readonly string[];
  /** Answers in the database. */
  committed: ReadonlySet<string>;
  /** Answers that were acknowledged as recorded. */
  acknowledged: readonly string[];
  arrivals: readonly Arrival[];
  faults: readonly Fault[];
};

/** Compares arrivals with committed answers. */
export function reckon({ webhooks, committed, acknowledged, arrivals, faults }: Books) {
  const seen = new Set(arrivals.map(({ webhook, responseId }) => `${webhook} ${responseId}`));
  const expected = webhooks.flatMap((webhook) => [...committed].map((id) => `${webhook} ${id}`));
  const exposed = new Set(faults.flatMap(({ inFlight }) => [...inFlight]));
  const again = repeated(arrivals);
  return {
    committed: committed.size,
    acknowledged_but_lost: acknowledged.filter((id) => !committed.has(id)).length,
    expected: expected.length,
    arrived: seen.size,
    missing: expected.filter((pair) => !seen.has(pair)).length,
    invented: arrivals.filter(({ responseId, genuine }) => !genuine || !committed.has(responseId))
      .length,
    duplicates: again.length,
    in_flight_at_faults: faults.reduce((sum, { inFlight }) => sum + inFlight.size, 0),
    duplicates_of_others: again.filter((id) => !exposed.has(id)).length,
    resumed_ms: resumed(faults, arrivals),
  };
}

export type Ledger = ReturnType<typeof reckon>;

/** Ids of deliveries that arrived more than once, once per repetition. */
function repeated(arrivals: readonly Arrival[]): string[] {
  const seen = new Set<string>();
  return arrivals.flatMap(({ deliveryId }) => {
    if (seen.has(deliveryId)) return [deliveryId];
    seen.add(deliveryId);
    return [];
  });
}

/** Counted from the time at which a process and Postgres are alive. */
const resumeWithinMs = { kill: 1000, 'postgres restart': 5000, 'ended backend': 1000 };

type Resumed = { times: number; typical: number; slowest: number; limit: number };

/**
 * For each kind of fault, the time until the first orphaned delivery arrived again. After a restart of Postgres, any
 * delivery that was not in flight before counts too.
 */
function resumed(faults: readonly Fault[], arrivals: readonly Arrival[]) {
  const took: Partial<Record<FaultKind, number[]>> = {};
  for (const { kind, aliveAt, inFlight, orphans } of faults) {
    const isSign = (id: string) =>
      orphans.has(id) || (kind === 'postgres restart' && !inFlight.has(id));
    const first = arrivals.find(({ at, deliveryId }) => at >= aliveAt && isSign(deliveryId));
    if (first) took[kind] = [...(took[kind] ?? []), first.at - aliveAt];
  }
  const figures: Partial<Record<FaultKind, Resumed>> = {};
  for (const [kind, all] of Object.entries(took) as [FaultKind, number[]][]) {
    const sorted = all.toSorted((one, other) => one - other);
    const typical = sorted[Math.floor(sorted.length / 2)]!;
    const slowest = sorted.at(-1)!;
    figures[kind] = { times: sorted.length, typical, slowest, limit: resumeWithinMs[kind] };
  }
  return figures;
}
