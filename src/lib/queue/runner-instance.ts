import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ParsedCronItem,
  type Runner,
  type RunnerOptions,
  run,
  type TaskList,
  type WorkerEvents,
  type WorkerPool,
} from 'graphile-worker';
import type pg from 'pg';
import type { Log } from '../log/log.ts';
import { type Connections, type OwnBackends, openConnections } from './connections.ts';
import { countInFlight } from './in-flight.ts';
import { quietLogger } from './quiet-logger.ts';
import { openSession, type Session } from './session.ts';

const startTimeoutMs = 3000;
/** For the outcomes of the last jobs to be recorded, once a generation has ended. */
const recordWithinMs = 1000;

/** What a runner does, through all its lives. */
export type Work = {
  url: string;
  log: Log;
  tasks: TaskList;
  crontab: ParsedCronItem[];
  concurrency: number;
  /** Jobs fetched at once and kept at hand. */
  localQueue: number;
  pollMs: number;
  sweepMs: number;
  /** How long after its start it sweeps for the first time. */
  firstSweepMs: number;
  /** The worker pools of this process that still have jobs in flight. */
  alive: Set<string>;
  /** By these the process itself hands jobs over. */
  own: OwnBackends;
  /** Called when jobs of a dead pool have become free. */
  onFreed: () => void;
};

/**
 * One run of a runner. It ends by a hiccup while outcomes are recorded (Graphile then shuts down and
 * says nothing), or with its session. The supervisor starts the next one at once, while `drain` waits
 * for the jobs that this one still has in flight.
 */
export type Generation = {
  ended: Promise<void>;
  nudge: () => void;
  /** At the deadline what is still in flight is given up: another runner may start it. */
  drain: (deadline?: Promise<unknown>) => Promise<void>;
};

/** Resolves when the runner has fetched for the first time: only then is it known to work. */
export async function startGeneration(work: Work, onConnected: () => void): Promise<Generation> {
  const session = await openSession(work.url, work.log);
  const connections = openConnections(work.url, work.log, work.own);
  const events: WorkerEvents = new EventEmitter();
  const fetched = once(events, 'localQueue:getJobs:complete');
  const shuttingDown = once(events, 'pool:gracefulShutdown');
  const born = registerAtBirth(events, { work, session, connections });
  const inFlight = countInFlight(work.tasks);

  const taskList = inFlight.tasks; // without one, the working directory is searched for tasks
  const options = { ...runnerOptions(work, connections.pool), events, taskList };
  const runner = await run(options).catch(async (error) => {
    await Promise.all([session.end(), connections.pool.end()]);
    throw error;
  });
  onConnected();

  const workerPool = born.workerPool!; // a runner that is returned has created its pool
  const parts = { work, session, connections, runner, workerPool, shuttingDown, inFlight };
  const generation = live(parts);
  const started = Promise.all([born.registered, fetched]);
  const failed = [failAfter(generation.ended), failAfter(wait(startTimeoutMs))];
  await Promise.race([started, ...failed]).catch((error) => {
    void generation.drain();
    throw error;
  });
  return generation;
}

/** Not as a promise of the pool: a pool is itself awaitable, and means its end by that. */
function registerAtBirth(events: WorkerEvents, { work, session, connections }: Surroundings) {
  const born: { workerPool?: WorkerPool; registered?: Promise<void> } = {};
  events.once('pool:create', ({ workerPool }) => {
    born.workerPool = workerPool;
    born.registered = session.register(workerPool.id);
    connections.holdUntil(born.registered); // before, it must not take a job that no process could free
    work.alive.add(workerPool.id);
  });
  return born;
}

function runnerOptions(work: Work, pgPool: pg.Pool): RunnerOptions {
  return {
    pgPool,
    schema: 'graphile_worker', // else an environment variable could name another
    parsedCronItems: work.crontab, // without them, also for a crontab
    noHandleSignals: true,
    pollInterval: work.pollMs,
    concurrency: work.concurrency,
    logger: quietLogger(work.log),
    preset: {
      worker: {
        localQueue: { size: work.localQueue },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  };
}

type Surroundings = { work: Work; session: Session; connections: Connections };

type Lifecycle = Surroundings & {
  runner: Runner;
  workerPool: WorkerPool;
  shuttingDown: Promise<unknown>;
  inFlight: { none: () => Promise<void> };
};

function live(parts: Lifecycle): Generation {
  const { work, session, connections, runner, workerPool } = parts;
  const ended = Promise.race([session.lost, parts.shuttingDown]).then(() => {});
  const stopSweeping = keepSweeping(session, work);
  let over = false;
  void ended.then(() => {
    over = true;
  });

  return {
    ended,
    nudge() {
      if (!over) workerPool.nudge(1);
    },
    async drain(deadline) {
      over = true;
      stopSweeping();
      runner.stop().catch(() => {}); // it may be stopping already
      await Promise.race([emptied(parts), ...(deadline ? [deadline] : [])]);
      connections.holdUntil(Promise.reject(new Error('this generation is over')));
      await session.free(workerPool.id);
      work.alive.delete(workerPool.id);
      work.onFreed();
      connections.pool.end().catch(() => {});
    },
  };
}

/**
 * Graphile's own end is the usual way. It never comes once some batches of outcomes could not be
 * recorded (its count of what is pending is wrong from then on): then empty hands have to do.
 */
async function emptied({ workerPool, inFlight }: Lifecycle) {
  const ended = workerPool.promise.catch(() => {}); // its errors have been logged
  const noneInFlight = inFlight
    .none()
    .then(() => wait(recordWithinMs))
    .then(() => inFlight.none());
  await Promise.race([ended, noneInFlight]);
}

/** A sweep that fails is the end of the session: it may not be able to prove that we are alive either. */
function keepSweeping(session: Session, work: Work): () => void {
  const { alive, sweepMs, firstSweepMs, onFreed } = work;
  let sweeping = false;
  async function sweep() {
    if (sweeping) return;
    sweeping = true;
    try {
      if (await session.sweep(alive)) onFreed();
    } catch {
      await session.end();
    } finally {
      sweeping = false;
    }
  }
  let timer = setTimeout(() => {
    void sweep();
    timer = setInterval(sweep, sweepMs);
  }, firstSweepMs);
  return () => clearInterval(timer);
}

const wait = (ms: number) => sleep(ms, undefined, { ref: false });

async function failAfter(event: Promise<unknown>): Promise<never> {
  await event;
  throw new Error('a runner did not start to work');
}
