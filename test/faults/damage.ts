import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, isDatabaseAway } from '../../src/lib/db/db.ts';
import type { Fault, FaultKind } from './ledger.ts';
import type { Service } from './service.ts';

export type Means = {
  db: Db;
  services: readonly Service[];
  /** Crashes Postgres and returns once it accepts connections again. */
  restartPostgres?: () => Promise<void>;
};

/** Longer than Postgres needs to notice a killed process. */
const noticeMs = 50;
const patienceMs = 60_000;

/** Causes a fault, repairs it, and returns the affected deliveries. */
export async function breakOne(means: Means, kind: FaultKind, turn: number): Promise<Fault> {
  if (kind === 'kill') return await killOne(means, turn);
  const before = await claims(means.db);
  if (kind === 'postgres restart') await means.restartPostgres!();
  else await endBackend(means.db);
  const aliveAt = Date.now();
  const soon = await claims(means.db);
  return await faultOf(means.db, { kind, aliveAt, before: [...before, ...soon] });
}

async function killOne({ db, services }: Means, turn: number): Promise<Fault> {
  const service = services[turn % services.length]!;
  await service.kill();
  const killedAt = Date.now();
  const fault = await faultOf(db, { kind: 'kill', aliveAt: killedAt, before: await claims(db) });
  await service.start();
  return services.length > 1 ? fault : { ...fault, aliveAt: Date.now() };
}

type Claim = { id: string; claimed_by: string };
type Broken = { kind: FaultKind; aliveAt: number; before: readonly Claim[] };

async function faultOf(db: Db, { kind, aliveAt, before }: Broken): Promise<Fault> {
  await sleep(noticeMs);
  const [after, alive] = [await claims(db), await living(db)];
  const inFlight = [...before, ...after];
  const orphans = inFlight.filter(({ claimed_by }) => !alive.has(claimed_by));
  const ids = (some: readonly Claim[]) => new Set(some.map(({ id }) => id));
  return { kind, aliveAt, inFlight: ids(inFlight), orphans: ids(orphans) };
}

const claims = (db: Db) =>
  patiently(
    () => db<Claim[]>`
      select id, claimed_by from pending_deliveries where claimed_by is not null`,
  );

/** Ids of the worker pools whose connections are still alive. */
async function living(db: Db): Promise<Set<string>> {
  const held = await patiently(
    () => db<{ pool_id: string }[]>`
      select pool_id
      from worker_pools
      where is_alive(worker_pools)`,
  );
  return new Set(held.map(({ pool_id }) => pool_id));
}

async function endBackend(db: Db) {
  await patiently(
    () => db`
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
      order by random()
      limit 1`,
  );
}

/** Retries while Postgres is restarting. */
export async function patiently<T>(ask: () => PromiseLike<T>): Promise<T> {
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isDatabaseAway(error) || performance.now() > until) throw error;
      await sleep(noticeMs);
    }
  }
}
