import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/lib/db/db.ts';
import { giveAnswers } from './answers.ts';
import { startSubscribers } from './arrivals.ts';
import { breakOne, type Means } from './damage.ts';
import { type Fault, type FaultKind, reckon } from './ledger.ts';
import { answersOf, drained, environment, setScene, webhooks } from './scene.ts';
import { createService } from './service.ts';

export type Plan = {
  title: string;
  answers: number;
  perSecond: number;
  processes: number;
  faults: readonly { kind: FaultKind; everyMs: number }[];
};

export type Ground = Pick<Means, 'restartPostgres'> & { url: string };

/** Answers a survey while faults occur, and returns the ledger of its webhooks. */
export async function runDeliveryFaults(ground: Ground, plan: Plan) {
  const subscribers = await startSubscribers();
  const services = await Promise.all(
    Array.from({ length: plan.processes }, () => createService(environment(ground.url))),
  );
  const db = connect(ground.url, { connections: 1 });
  try {
    for (const service of services) await service.start();
    const scene = await setScene({ db, address: services[0]!.address, subscribers }, plan.answers);
    const means = { ...ground, db, services };
    const addresses = services.map(({ address }) => address);
    const startedAt = performance.now();
    const answering = giveAnswers({ ...scene, addresses, perSecond: plan.perSecond });
    const [given, faults] = await Promise.all([answering, damageUntil(answering, means, plan)]);
    const seconds = (performance.now() - startedAt) / 1000;
    const undelivered = await drained(db, scene.orgId);
    const committed = await answersOf(db, scene.orgId);
    const { acknowledged } = given;
    const books = { webhooks, committed, acknowledged, arrivals: subscribers.arrivals, faults };
    return {
      ...reckon(books),
      undelivered,
      faults: countKinds(faults),
      answered_500: given.faults,
      faults_per_second: Number((faults.length / seconds).toFixed(1)),
      answers_per_second: Math.round(plan.answers / seconds),
      ended_by_themselves: services.flatMap(({ ended }) => ended),
    };
  } finally {
    await Promise.all(services.map((service) => service.kill()));
    subscribers.stop();
    await db.end({ timeout: 1 });
  }
}

/**
 * Causes each kind of fault at its own interval until all answers are sent. Ended connections do not wait for each
 * other. Other faults wait until the previous one is repaired.
 */
async function damageUntil(done: Promise<unknown>, means: Means, plan: Plan) {
  const over = new AbortController();
  done.catch(() => {}).finally(() => over.abort());
  const { signal } = over;
  const breaking: Promise<Fault>[] = [];
  await Promise.all(
    plan.faults.map(async ({ kind, everyMs }) => {
      let dueAt = performance.now() + everyMs;
      for (let turn = 0; ; turn++) {
        const inMs = Math.max(0, dueAt - performance.now());
        await sleep(inMs, undefined, { signal }).catch(() => {});
        if (signal.aborted) return;
        const broken = breakOne(means, kind, turn);
        breaking.push(broken);
        if (kind !== 'ended backend') await broken;
        dueAt = kind === 'ended backend' ? dueAt + everyMs : performance.now() + everyMs;
      }
    }),
  );
  return await Promise.all(breaking);
}

function countKinds(faults: readonly Fault[]) {
  const counts: Partial<Record<FaultKind, number>> = {};
  for (const { kind } of faults) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
