import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CronItem,
  Logger,
  parseCronItems,
  type Runner,
  run,
  type TaskList,
  type WorkerEvents,
  type WorkerPool,
} from 'graphile-worker';
import { deadline, withinMs } from '../async/deadline.ts';
import { type Log, withoutValues } from '../log/log.ts';
import {
  type Connecting,
  type Connections,
  openConnections,
  type QueueAddress,
} from './connections.ts';
import { openSession, type Session } from './lease.ts';
import { graphileTasks, type Task } from './task.ts';

/**
 * A job that is due now is announced by a notification; scheduled ones are found by the poll. Each sweep also proves
 * that the session still holds its lock, sooner than Postgres gives up a silent connection, in 15 s.
 */
const usual = { pollMs: 1000, sweepMs: 900, stopWithinMs: 25_000 };
const giveUpWithinMs = 2000;
const startTimeoutMs = 3000;
/** For the outcomes of the last jobs to be recorded, once an instance has ended. */
const recordWithinMs = 1000;
const minPauseMs = 50;
const maxPauseMs = 1000;
/** A runner that ran for so long was healthy: the next one starts without a pause. */
const healthyAfterMs = 5000;

export type JobsOptions = QueueAddress & {
  program: string;
  log: Log;
  tasks: Record<string, Task>;
  concurrency: number;
  crontab?: CronItem[];
  /** Called when a process has died and its jobs are free: other work of that process may be free, too. */
  onFreed?: () => void;
  timing?: Partial<typeof usual>;
};

export type RunnerState = {
  state: 'running' | 'restarting' | 'stopped';
  restarts: number;
};

export type Jobs = {
  state: () => RunnerState;
  /** Jobs in flight finish; nothing stays locked. */
  stop: () => Promise<void>;
};

export async function startJobs(options: JobsOptions): Promise<Jobs> {
  const { log } = options;
  const timing = { ...usual, ...options.timing };
  const stopping = Promise.withResolvers<{ deadline: Promise<unknown> }>();
  const tried = Promise.withResolvers<void>();
  let current: ReturnType<typeof operate> | undefined;
  const work: RunnerWork = {
    crontab: [],
    ...options,
    ...timing,
    graphileTasks: graphileTasks(options.tasks, options),
    alive: new Set(),
    onFreed() {
      current?.nudge();
      options.onFreed?.();
    },
  };
  let stopped = false;
  let failing = false;
  let restarts = 0;
  let pauseMs = minPauseMs;

  async function runOnce() {
    const instance = await startInstance(work);
    const began = performance.now();
    current = instance;
    if (failing) log.info('a job runner runs again');
    failing = false;
    tried.resolve();
    const order = await Promise.race([instance.ended, stopping.promise]);
    current = undefined;
    if (order) return await instance.drain(order.deadline);

    restarts += 1;
    log.warn({ restarts }, 'a job runner ended unexpectedly, starting it again');
    void instance.drain();
    if (performance.now() - began > healthyAfterMs) pauseMs = minPauseMs;
  }

  async function supervise() {
    while (!stopped) {
      await runOnce().catch((error) => {
        log[failing ? 'debug' : 'warn']({ err: error }, 'a job runner cannot start');
        failing = true;
      });
      tried.resolve();
      if (stopped) break;
      await Promise.race([sleep(pauseMs), stopping.promise]);
      pauseMs = Math.min(pauseMs * 2, maxPauseMs);
    }
  }

  const supervision = supervise();
  await tried.promise;
  return {
    state: () => ({
      state: stopped ? 'stopped' : current ? 'running' : 'restarting',
      restarts,
    }),
    async stop() {
      stopped = true;
      const { passed, clear } = deadline(timing.stopWithinMs);
      stopping.resolve({ deadline: passed });
      await withinMs(supervision, timing.stopWithinMs + giveUpWithinMs, () => {});
      clear();
    },
  };
}

/** The same for each instance of the runner. */
type RunnerWork = Connecting &
  typeof usual & {
    graphileTasks: TaskList;
    crontab: CronItem[];
    concurrency: number;
    alive: Set<string>;
    onFreed: () => void;
  };

/** Resolves when the runner has fetched for the first time and listens: only then does it work. */
async function startInstance(work: RunnerWork) {
  const session = await openSession(work, work.log, work.program);
  const connections = openConnections(work);
  const events: WorkerEvents = new EventEmitter();
  const fetched = once(events, 'localQueue:getJobs:complete');
  const aboutToListen = once(events, 'pool:listen:success');
  const shuttingDown = once(events, 'pool:gracefulShutdown');
  const creation = registerOnCreation(events, { work, session, connections });
  const inFlight = countInFlight(work.graphileTasks);
  const runner = await run({
    pgPool: connections.pool,
    schema: 'graphile_worker', // else an environment variable could name another
    taskList: inFlight.tasks, // without it, the working directory is searched for tasks
    parsedCronItems: parseCronItems(work.crontab), // without them, also for a crontab
    events,
    noHandleSignals: true,
    pollInterval: work.pollMs,
    concurrency: work.concurrency,
    logger: quietLogger(work.log),
    preset: {
      worker: {
        localQueue: { size: work.concurrency },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  }).catch(async (error) => {
    await Promise.all([session.end(), connections.pool.end()]);
    throw error;
  });

  const workerPool = creation.workerPool!; // a runner that is returned has created its pool
  const parts = { work, session, connections, runner, workerPool, shuttingDown, inFlight };
  const instance = operate(parts);
  // sent after Graphile's LISTEN on the same connection: a job announced before it would wait for the poll
  const listening = aboutToListen.then(([{ client }]) => client.query('select'));
  const started = Promise.all([creation.registered, fetched, listening]);
  const failed = [failAfter(instance.ended), failAfter(wait(startTimeoutMs))];
  await Promise.race([started, ...failed]).catch((error) => {
    void instance.drain();
    throw error;
  });
  return instance;
}

type Surroundings = { work: RunnerWork; session: Session; connections: Connections };

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

/** The same tasks, and a way to wait until none of them is running. */
function countInFlight(tasks: TaskList) {
  let inFlight = 0;
  let whenNone = Promise.withResolvers<void>();
  const counted: TaskList = {};

  for (const [name, runTask] of Object.entries(tasks)) {
    counted[name] = async (payload, helpers) => {
      inFlight += 1;
      try {
        await runTask!(payload, helpers);
      } finally {
        inFlight -= 1;
        if (inFlight === 0) {
          whenNone.resolve();
          whenNone = Promise.withResolvers();
        }
      }
    };
  }
  return {
    tasks: counted,
    async none() {
      while (inFlight > 0) await whenNone.promise;
    },
  };
}

/**
 * Graphile's errors are our warnings: their consequences (a runner that starts again, a job that is
 * tried again) are reported by us. The rest, a line for every job, and its extras, which hold payloads,
 * stay out of the log.
 */
export const quietLogger = (log: Log) =>
  new Logger(() => (level, message, meta) => {
    const reportedByTask = meta['failure'] === true;
    if (level === 'error' && !reportedByTask) {
      log.warn({ from: 'graphile' }, withoutValues(message));
    }
    if (level === 'warning') log.debug({ from: 'graphile' }, withoutValues(message));
  });

type InstanceParts = Surroundings & {
  runner: Runner;
  workerPool: WorkerPool;
  shuttingDown: Promise<unknown>;
  inFlight: { none: () => Promise<void> };
};

/**
 * One run of Graphile's runner. It ends when outcomes cannot be recorded (Graphile then shuts down
 * silently), or with its session. The next instance starts at once, while `drain` waits for
 * the jobs that this one still has in flight.
 */
function operate(parts: InstanceParts) {
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
    /** At the deadline what is still in flight is given up: another runner may start it. */
    async drain(deadline?: Promise<unknown>) {
      over = true;
      stopSweeping();
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

/** A sweep that fails ends the session: such a session may also fail to prove that this process is alive. */
function keepSweeping(session: Session, { alive, sweepMs, onFreed }: RunnerWork) {
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
  void sweep();
  const timer = setInterval(sweep, sweepMs);
  return () => clearInterval(timer);
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

/** Queries that Graphile sends after its end, and does not wait for, must not end the process. */
const hasEnded = () =>
  Object.assign(new Error('this runner has ended'), { code: 'CONNECTION_ENDED' });

const wait = (ms: number) => sleep(ms, undefined, { ref: false });

async function failAfter(event: Promise<unknown>): Promise<never> {
  await event;
  throw new Error('a runner did not start to work');
}
