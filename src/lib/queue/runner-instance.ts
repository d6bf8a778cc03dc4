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
import { type Connecting, type Connections, openConnections } from './connections.ts';
import { countInFlight } from './in-flight.ts';
import { quietLogger } from './quiet-logger.ts';
import { openSession, type Session } from './session.ts';

const startTimeoutMs = 3000;
/** For the outcomes of the last jobs to be recorded, once an instance has ended. */
const recordWithinMs = 1000;

/** What a runner works on, in each of its instances. */
export type RunnerWork = Connecting & {
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
  /** Called when jobs of a dead pool have become free. */
  onFreed: () => void;
  /** Resolves when another runner has made Graphile's schema. */
  schema: Promise<void> | undefined;
};

/**
 * One run of Graphile's runner. It ends when outcomes cannot be recorded (Graphile then shuts down
 * silently), or with its session. The supervisor starts the next instance at once, while `drain` waits for
 * the jobs that this one still has in flight.
 */
export type RunnerInstance = {
  ended: Promise<void>;
  nudge: () => void;
  /** Frees the jobs of processes that died, at once. */
  sweep: () => void;
  /** At the deadline what is still in flight is given up: another runner may start it. */
  drain: (deadline?: Promise<unknown>) => Promise<void>;
};

/** Resolves when the runner has fetched for the first time: only then is it known to work. */
export async function startInstance(
  work: RunnerWork,
  onConnected: () => void,
): Promise<RunnerInstance> {
  const [session] = await Promise.all([openSession(work, work.log, work.program), work.schema]);
  const connections = openConnections(work);
  const events: WorkerEvents = new EventEmitter();
  const fetched = once(events, 'localQueue:getJobs:complete');
  const shuttingDown = once(events, 'pool:gracefulShutdown');
  const creation = registerOnCreation(events, { work, session, connections });
  const inFlight = countInFlight(work.tasks);
  // Without a list of tasks, the working directory is searched for them.
  const options = { ...runnerOptions(work, connections.pool), events, taskList: inFlight.tasks };
  const runner = await run(options).catch(async (error) => {
    await Promise.all([session.end(), connections.pool.end()]);
    throw error;
  });
  onConnected();

  const workerPool = creation.workerPool!; // a runner that is returned has created its pool
  const parts = { work, session, connections, runner, workerPool, shuttingDown, inFlight };
  const instance = operate(parts);
  const started = Promise.all([creation.registered, fetched]);
  const failed = [failAfter(instance.ended), failAfter(wait(startTimeoutMs))];
  await Promise.race([started, ...failed]).catch((error) => {
    void instance.drain();
    throw error;
  });
  return instance;
}

/** Not a promise of the pool: a pool is itself awaitable, and resolves at its end. */
function registerOnCreation(events: WorkerEvents, { work, session, connections }: Surroundings) {
  const creation: { workerPool?: WorkerPool; registered?: Promise<void> } = {};
  events.once('pool:create', ({ workerPool }) => {
    creation.workerPool = workerPool;
    creation.registered = session.register(workerPool.id);
    connections.holdUntil(creation.registered); // before that, no process could free the jobs it takes
    work.alive.add(workerPool.id);
  });
  return creation;
}

function runnerOptions(work: RunnerWork, pgPool: pg.Pool): RunnerOptions {
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

type Surroundings = { work: RunnerWork; session: Session; connections: Connections };

type InstanceParts = Surroundings & {
  runner: Runner;
  workerPool: WorkerPool;
  shuttingDown: Promise<unknown>;
  inFlight: { none: () => Promise<void> };
};

function operate(parts: InstanceParts): RunnerInstance {
  const { work, session, connections, runner, workerPool } = parts;
  const ended = Promise.race([session.lost, parts.shuttingDown]).then(() => {});
  const sweeping = keepSweeping(session, work);
  let over = false;
  void ended.then(() => {
    over = true;
  });

  return {
    ended,
    nudge() {
      if (!over) workerPool.nudge(1);
    },
    sweep: sweeping.now,
    async drain(deadline) {
      over = true;
      sweeping.stop();
      runner.stop().catch(() => {}); // it may be stopping already
      await Promise.race([emptied(parts), ...(deadline ? [deadline] : [])]);
      connections.holdUntil(Promise.reject(hasEnded()));
      await session.free(workerPool.id);
      work.alive.delete(workerPool.id);
      work.onFreed();
      connections.pool.end().catch(() => {});
    },
  };
}

/**
 * Normally Graphile ends by itself. It never does after some batches of outcomes could not be recorded,
 * because its count of pending outcomes is then wrong: so no job in flight counts as the end too.
 */
async function emptied({ workerPool, inFlight }: InstanceParts) {
  const ended = workerPool.promise.catch(() => {}); // its errors have been logged
  const noneInFlight = inFlight
    .none()
    .then(() => wait(recordWithinMs))
    .then(() => inFlight.none());
  await Promise.race([ended, noneInFlight]);
}

/** A sweep that fails ends the session: such a session may also fail to prove that this process is alive. */
function keepSweeping(session: Session, work: RunnerWork) {
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
  return { now: () => void sweep(), stop: () => clearInterval(timer) };
}

/** What Graphile asks for after its end, and does not wait for, must not end the process. */
const hasEnded = () =>
  Object.assign(new Error('this runner has ended'), { code: 'CONNECTION_ENDED' });

const wait = (ms: number) => sleep(ms, undefined, { ref: false });

async function failAfter(event: Promise<unknown>): Promise<never> {
  await event;
  throw new Error('a runner did not start to work');
}
