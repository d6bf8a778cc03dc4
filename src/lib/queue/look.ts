import { type Db, one, type Part, type Sql } from '../db/db.ts';
import type { Log } from '../log/log.ts';
import { type DueTimes, dueSoon } from './due-times.ts';
import type { Pump } from './pump.ts';

/** What a dead process held is to be free within a second. */
const everyMs = 900;

/** Work of the program that no nudge announces, looked for in the same statement. */
export type OtherWork = { exists: (sql: Sql) => Part; onFound: () => void };

export type Looking = { stop: () => Promise<void> };
type Tools = {
  db: Db;
  log: Log;
  pump: Pump;
  dueTimes: DueTimes;
  /** Called when a process has died that held jobs. */
  onDeath: () => void;
  otherWork?: OtherWork;
};

/**
 * Finds, by one statement a second, what no nudge announces: outbox rows of processes that died or have no pump,
 * jobs that fall due soon, processes that died, and what the program looks for. While nothing happens this is nearly
 * all that is asked.
 */
export function startLooking(tools: Tools): Looking {
  const { db, log, pump, dueTimes, onDeath, otherWork } = tools;
  let looking: Promise<void> | undefined;
  let stopped = false;

  async function lookOnce() {
    try {
      const found = await findWork(db, otherWork);
      if (stopped) return;
      if (found.outbox) pump.nudge();
      dueTimes.arm(found.due_soon);
      if (found.death) onDeath();
      if (found.other) otherWork?.onFound();
    } catch (error) {
      log.debug({ err: error }, 'cannot look for work, trying on');
      pump.nudge(); // it tries more often, and logs that the database is away
    }
  }

  function look() {
    looking ??= lookOnce().finally(() => {
      looking = undefined;
    });
  }

  const timer = setInterval(look, everyMs);
  look();
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      await looking;
    },
  };
}

type Found = { outbox: boolean; due_soon: number[]; death: boolean; other: boolean };

/** The lock of a worker pool can be had when its process has died; this statement lets go of it at its end. */
const findWork = async (sql: Sql, otherWork: OtherWork | undefined) =>
  one(
    await sql<Found[]>`
      select exists (select from outbox) as outbox,
             array (${dueSoon(sql)}) as due_soon,
             exists (select from worker_pools where pg_try_advisory_xact_lock(lock_key)) as death,
             ${otherWork?.exists(sql) ?? sql`false`} as other`,
  );
