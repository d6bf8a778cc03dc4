import type { Part, Sql } from '../db/db.ts';
import type { Log } from '../log/log.ts';

/** Times closer together than this share one timer. */
const grainMs = 2;
/** Longer than the time between two looks of `look.ts`, so that no due time falls between them. */
export const aheadMs = 2500;

export type DueTimes = {
  look: () => void;
  /** Takes the milliseconds until jobs fall due. */
  arm: (inMs: readonly number[]) => void;
  stop: () => Promise<void>;
};
type Tools = { db: Sql; log: Log; wake: () => void };

/**
 * Wakes the runners when a scheduled job falls due: left alone they would find it at their next poll.
 * Looks into the queue rather than at what this process scheduled, so that the jobs of a process that
 * died, and the retries that the queue itself put off, are on time as well.
 */
export function startDueTimes({ db, log, wake }: Tools): DueTimes {
  const armed = new Map<number, NodeJS.Timeout>();
  let looking: Promise<void> | undefined;
  let stopped = false;

  function look() {
    looking ??= lookOnce().finally(() => {
      looking = undefined;
    });
  }

  async function lookOnce() {
    try {
      arm(await listDueSoon(db));
    } catch (error) {
      log.debug({ err: error }, 'cannot look for due jobs, the poll finds them');
    }
  }

  function arm(all: readonly number[]) {
    if (!stopped) for (const inMs of all) armOne(inMs);
  }

  function armOne(inMs: number) {
    const grain = Math.ceil((performance.now() + inMs) / grainMs);
    if (armed.has(grain)) return;
    const fire = () => {
      armed.delete(grain);
      wake();
    };
    armed.set(grain, setTimeout(fire, Math.ceil(grain * grainMs - performance.now()) + 1));
  }

  return {
    look,
    arm,
    async stop() {
      stopped = true;
      await looking;
      for (const timeout of armed.values()) clearTimeout(timeout);
    },
  };
}

async function listDueSoon(sql: Sql): Promise<number[]> {
  const rows = await sql<{ in_ms: number }[]>`
    select in_ms
    from (${dueSoon(sql)}) due`;
  return rows.map(({ in_ms }) => in_ms);
}

/**
 * How far off the next due times are, by the database's clock. Reads the table behind the queue's view
 * because only there the queue's own index (priority, run_at where is_available) serves: jobs that are
 * scheduled have priority 0.
 */
export const dueSoon = (sql: Sql): Part => sql`
  select distinct ceil(extract(epoch from run_at - now()) * 1000)::int as in_ms
  from graphile_worker._private_jobs
  where is_available
    and priority = 0
    and run_at > now()
    and run_at < now() + make_interval(secs => ${aheadMs / 1000})`;
