// Background jobs: an outbox in the same transaction as its cause, a pump, supervised runners, leases of living processes.

import { type CronItem, parseCronItems } from 'graphile-worker';
import { deadline, withinMs } from '../async/deadline.ts';
import type { Db, Sql } from '../db/db.ts';
import type { Log } from '../log/log.ts';
import { type OwnBackends, ownBackends, type QueueAddress } from './connections.ts';
import { startDueTimes } from './due-times.ts';
import { type OtherWork, startLooking } from './look.ts';
import { startPump } from './pump.ts';
import { type RunnerState, type SupervisedRunner, superviseRunner } from './runner.ts';
import { graphileTasks, type Task } from './task.ts';

/** Tasks that share a runner, apart from those of other groups. */
export type RunnerGroup = {
  takes: (task: string) => boolean;
  /** Jobs that run at once. */
  concurrency: number;
  /** Jobs that are fetched at once. */
  localQueue: number;
};

/**
 * The backstops. A job normally starts by a nudge, of the pump, of a notification or when it falls due, and
 * looks find what has to be swept: these only bound how much is asked while nothing happens. Each session sweeps sooner
 * than Postgres gives up a connection that is silent, in 15 s: it proves that it still holds its lock.
 */
const usual = { pollMs: 10_000, sweepMs: 2000, stopWithinMs: 25_000 };

/** For giving up what was still in flight at the deadline. */
const giveUpWithinMs = 2000;

export type Jobs = {
  /** Hands committed outbox rows to the queue; call it after a commit that wrote some. */
  pump: () => void;
  /** The runners that have tasks. Ready means that all of them are running. */
  state: () => Record<string, RunnerState>;
  /** Jobs in flight finish; nothing stays locked. */
  stop: () => Promise<void>;
};

export type JobsOptions = QueueAddress & {
  /** Names connections and attributes of spans. */
  program: string;
  db: Db;
  log: Log;
  tasks: Record<string, Task>;
  /** Each task runs in the first group that takes it. */
  groups: Record<string, RunnerGroup>;
  crontab?: CronItem[];
  /** Called when a process has died and its jobs are free: other work of that process may be free, too. */
  onFreed?: () => void;
  otherWork?: OtherWork;
  timing?: Partial<typeof usual>;
};

/** Starts to work on the queue; resolves when each runner has run or failed once. */
export async function startJobs(options: JobsOptions): Promise<Jobs> {
  const { db, log } = options;
  const timing = { ...usual, ...options.timing };
  const runners = new Map<string, SupervisedRunner>();
  const nudge = () => {
    for (const runner of runners.values()) runner.nudge();
  };
  const own = ownBackends();
  const groupOf = groupFinder(options.groups);
  await startRunners(options, { runners, timing, nudge, own });

  const dueTimes = startDueTimes({ db, log, wake: nudge });
  const pump = startPump({
    db,
    log,
    onHandedOver({ soon, tasks, backend }) {
      own.add(backend);
      // Only the runners that have something to fetch.
      for (const group of new Set(tasks.map(groupOf))) runners.get(group ?? '')?.nudge();
      if (soon > 0) dueTimes.look();
    },
  });
  const { otherWork } = options;
  // One sweep frees the jobs of all groups.
  const onDeath = () => void [...runners.values()].some((runner) => runner.sweep());
  const looking = startLooking({
    db,
    log,
    pump,
    dueTimes,
    onDeath,
    ...(otherWork && { otherWork }),
  });

  return {
    pump: pump.nudge,
    state: () => Object.fromEntries([...runners].map(([group, runner]) => [group, runner.state()])),
    async stop() {
      const { passed, clear } = deadline(timing.stopWithinMs);
      const orderly = [looking, pump, dueTimes, ...runners.values()].map((part) =>
        part.stop(passed),
      );
      await withinMs(Promise.all(orderly), timing.stopWithinMs + giveUpWithinMs, () => {});
      clear();
    },
  };
}

type Start = {
  runners: Map<string, SupervisedRunner>;
  timing: typeof usual;
  nudge: () => void;
  own: OwnBackends;
};

/**
 * All at once, but for a new database, where the first one makes Graphile's own schema. Runners sweep in turn, since
 * each finds the jobs of a dead process in all groups.
 */
async function startRunners(options: JobsOptions, { runners, timing, nudge, own }: Start) {
  const { url, servers, program, log, crontab = [] } = options;
  const groupOf = groupFinder(options.groups);
  const onFreed = () => {
    nudge();
    options.onFreed?.();
  };
  const alive = new Set<string>();
  const first = Promise.withResolvers<void>();
  if (await hasSchema(options.db)) first.resolve();
  const names = Object.keys(options.tasks);
  const groups = Object.entries(options.groups).filter(([group]) =>
    names.some((name) => groupOf(name) === group),
  );
  for (const [at, [group, { concurrency, localQueue }]] of groups.entries()) {
    const tasks = Object.fromEntries(
      Object.entries(options.tasks).filter(([name]) => groupOf(name) === group),
    );
    const runner = superviseRunner(group, {
      url,
      servers,
      program,
      log,
      tasks: graphileTasks(tasks, { log, program }),
      crontab: parseCronItems(crontab.filter(({ task }) => groupOf(task) === group)),
      concurrency,
      localQueue,
      pollMs: timing.pollMs,
      sweepMs: timing.sweepMs * groups.length,
      firstSweepMs: timing.sweepMs * at,
      alive,
      own,
      onFreed,
      schema: at === 0 ? undefined : first.promise,
    });
    runners.set(group, runner);
    if (at === 0) void runner.connected.then(first.resolve);
  }
  await Promise.all([...runners.values()].map(({ tried }) => tried));
}

async function hasSchema(sql: Sql): Promise<boolean> {
  const found = await sql`select where to_regclass('graphile_worker.migrations') is not null`;
  return found.length > 0;
}

function groupFinder(groups: Record<string, RunnerGroup>) {
  const entries = Object.entries(groups);
  return (task: string) => entries.find(([, { takes }]) => takes(task))?.[0];
}
