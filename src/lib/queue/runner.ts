import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CronItem,
  Logger,
  parseCronItems,
  run,
  type TaskList,
  type WorkerEvents,
  type WorkerPool,
} from 'graphile-worker';
import { withinMs } from '../async/deadline.ts';
import { type Log, withoutValues } from '../log/log.ts';
import { openConnections, type QueueAddress } from './connections.ts';
import type { Lease } from './lease.ts';
import { graphileTasks, type Task } from './task.ts';

/** A notification announces jobs that are due now. The poll finds scheduled ones. */
const usual = { pollMs: 1000, stopWithinMs: 25_000 };
const giveUpWithinMs = 2000;
const startTimeoutMs = 3000;
/**
 * Time for an ended instance to record the outcomes of its last jobs. Must exceed the longest pause of the event loop,
 * because a job runs twice if its outcome is not recorded in time.
 */
const recordWithinMs = 5000;
const pauseMs = 200;

export type JobsOptions = QueueAddress & {
  lease: Lease;
  log: Log;
  tasks: Record<string, Task>;
  concurrency: number;
  crontab?: CronItem[];
  timing?: Partial<typeof usual>;
};

export type RunnerState = {
  state: 'running' | 'restarting' | 'stopped';
  restarts: number;
};

export type Jobs = Awaited<ReturnType<typeof startJobs>>;

/** Runs jobs until `stop`. When Graphile's runner ends, another one starts. */
export async function startJobs(options: JobsOptions) {
  const { log, lease } = options;
  const timing = { ...usual, ...options.timing };
  const stopping = Promise.withResolvers<boolean>();
  const tried = Promise.withResolvers<void>();
  let current: Awaited<ReturnType<typeof startInstance>> | undefined;
  let stopped = false;
  let failing = false;
  let restarts = 0;

  async function runOnce() {
    const instance = await startInstance(options, timing.pollMs);
    current = instance;
    if (failing) log.info('a job runner is running again');
    failing = false;
    tried.resolve();
    const isStopping = await Promise.race([instance.ended, stopping.promise]);
    current = undefined;
    if (isStopping) return await instance.drain(timing.stopWithinMs);

    restarts += 1;
    log.warn({ restarts }, 'a job runner ended unexpectedly, starting it again');
    void instance.drain(); // the next instance starts in the meantime
  }

  async function supervise() {
    while (!stopped) {
      await runOnce().catch((error) => {
        log[failing ? 'debug' : 'warn']({ err: error }, 'a job runner cannot start');
        failing = true;
      });
      tried.resolve();
      await Promise.race([sleep(pauseMs), stopping.promise]);
    }
  }

  const unsubscribe = lease.freed.subscribe(() => current?.nudge());
  const supervision = supervise();
  await tried.promise;
  return {
    state: (): RunnerState => ({
      state: stopped ? 'stopped' : current ? 'running' : 'restarting',
      restarts,
    }),
    async stop() {
      stopped = true;
      stopping.resolve(true);
      await withinMs(supervision, timing.stopWithinMs + giveUpWithinMs, () => {});
      unsubscribe();
    },
  };
}

/**
 * Starts an instance of Graphile's runner. Resolves when the instance has fetched jobs and listens for new ones. The
 * instance ends when the session of the lease ends, or when Graphile shuts down because it cannot record outcomes.
 */
async function startInstance(options: JobsOptions, pollMs: number) {
  const { lease, log, concurrency, crontab = [] } = options;
  const { pool, holdUntil } = openConnections(options, log);
  const events: WorkerEvents = new EventEmitter();
  const fetched = once(events, 'localQueue:getJobs:complete');
  const aboutToListen = once(events, 'pool:listen:success');
  const shuttingDown = once(events, 'pool:gracefulShutdown');
  const ended = Promise.race([lease.lost(), shuttingDown]).then(() => false);
  /** An object, because a promise of the pool would only resolve when the pool ends. */
  const creation: { workerPool?: WorkerPool; registered?: Promise<void> } = {};
  events.once('pool:create', ({ workerPool }) => {
    creation.workerPool = workerPool;
    creation.registered = lease.register(workerPool.id);
    holdUntil(creation.registered); // no process could free the jobs of an unregistered pool
  });

  const inFlight = new Set<Promise<unknown>>();
  const taskList: TaskList = {};
  for (const [name, runTask] of Object.entries(graphileTasks(options.tasks, log))) {
    taskList[name] = async (payload, helpers) => {
      const running = Promise.resolve(runTask!(payload, helpers));
      inFlight.add(running);
      await running.finally(() => inFlight.delete(running));
    };
  }
  const runner = await run({
    pgPool: pool,
    schema: 'graphile_worker', // otherwise an environment variable could change it
    taskList, // otherwise Graphile searches the working directory for tasks
    parsedCronItems: parseCronItems(crontab), // otherwise Graphile searches for a crontab
    events,
    noHandleSignals: true,
    pollInterval: pollMs,
    concurrency,
    logger: quietLogger(log),
    preset: {
      worker: {
        localQueue: { size: concurrency },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  }).catch(async (error) => {
    await pool.end();
    throw error;
  });
  const workerPool = creation.workerPool!; // created before `run` resolves
  let over = false;
  void ended.then(() => {
    over = true;
  });

  async function noneInFlight() {
    while (inFlight.size > 0) await Promise.allSettled(inFlight);
  }

  /**
   * Graphile's promise never resolves if some outcomes could not be recorded, because Graphile then miscounts its
   * pending outcomes. So the runner also counts as empty once all jobs in flight have ended.
   */
  const emptied = () =>
    Promise.race([
      workerPool.promise.catch(() => {}), // its errors have been logged
      noneInFlight()
        .then(() => sleep(recordWithinMs, undefined, { ref: false }))
        .then(noneInFlight),
    ]);

  /** Waits for jobs in flight. Jobs beyond the time limit are released, and another runner may start them. */
  async function drain(limitMs?: number) {
    over = true;
    runner.stop().catch(() => {}); // already stopping
    await (limitMs === undefined ? emptied() : withinMs(emptied(), limitMs, () => {}));
    holdUntil(Promise.reject(hasEnded()));
    await lease.free(workerPool.id);
    pool.end().catch(() => {});
  }

  // Ends after Graphile's LISTEN, because both use one connection. Jobs announced before LISTEN would wait for the
  // poll.
  const listening = aboutToListen.then(([{ client }]) => client.query('select'));
  const started = Promise.all([creation.registered, fetched, listening]).then(() => true);
  const works = await withinMs(Promise.race([started, ended]), startTimeoutMs, () => false).catch(
    () => false,
  );
  if (!works) {
    void drain();
    throw new Error('a job runner did not start');
  }
  return {
    ended,
    drain,
    nudge() {
      if (!over) workerPool.nudge(1);
    },
  };
}

/**
 * Logs Graphile's errors as warnings, because we report their consequences, such as a restarted runner or a retried
 * job. Drops the line for every job. Drops metadata, because it contains payloads.
 */
export const quietLogger = (log: Log) =>
  new Logger(() => (level, message, meta) => {
    const reportedByTask = meta['failure'] === true;
    if (level === 'error' && !reportedByTask) {
      log.warn({ from: 'graphile' }, withoutValues(message));
    }
    if (level === 'warning') log.debug({ from: 'graphile' }, withoutValues(message));
  });

/** The code marks a lost connection, so that late queries of Graphile do not end the process. */
const hasEnded = () =>
  Object.assign(new Error('this runner has ended'), { code: 'CONNECTION_ENDED' });
