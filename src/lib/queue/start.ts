import { type CronItem, parseCronItems } from 'graphile-worker';
import { deadline, withinMs } from '../async/deadline.ts';
import type { Db } from '../db/db.ts';
import type { Log } from '../log/log.ts';
import { startDueTimes } from './due-times.ts';
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

/** The backstops: a job normally starts by a nudge, and little has to be swept. */
const usual = { pollMs: 500, sweepMs: 200, stopWithinMs: 25_000 };

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

export type JobsOptions = {
  url: string;
  db: Db;
  log: Log;
  tasks: Record<string, Task>;
  /** Each task runs in the first group that takes it. */
  groups: Record<string, RunnerGroup>;
  crontab?: CronItem[];
  /** Called when a process has died and its jobs are free: other work of that process may be free, too. */
  onFreed?: () => void;
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
  await startRunners(options, { runners, timing, nudge });

  const dueTimes = startDueTimes({ db, log, wake: nudge });
  const pump = startPump({
    db,
    log,
    onHandedOver({ soon }) {
      nudge();
      if (soon) dueTimes.look();
    },
  });

  return {
    pump: pump.nudge,
    state: () => Object.fromEntries([...runners].map(([group, runner]) => [group, runner.state()])),
    async stop() {
      const { passed, clear } = deadline(timing.stopWithinMs);
      const orderly = [pump, dueTimes, ...runners.values()].map((part) => part.stop(passed));
      await withinMs(Promise.all(orderly), timing.stopWithinMs + giveUpWithinMs, () => {});
      clear();
    },
  };
}

type Start = {
  runners: Map<string, SupervisedRunner>;
  timing: typeof usual;
  nudge: () => void;
};

/** One after the other: on a new database the first one migrates Graphile's own schema. */
async function startRunners(options: JobsOptions, { runners, timing, nudge }: Start) {
  const { url, log, crontab = [] } = options;
  const groupOf = groupFinder(options.groups);
  const onFreed = () => {
    nudge();
    options.onFreed?.();
  };
  const alive = new Set<string>();
  for (const [group, { concurrency, localQueue }] of Object.entries(options.groups)) {
    const tasks = Object.fromEntries(
      Object.entries(options.tasks).filter(([name]) => groupOf(name) === group),
    );
    if (Object.keys(tasks).length === 0) continue;
    const runner = superviseRunner(group, {
      url,
      log,
      tasks: graphileTasks(tasks, log),
      crontab: parseCronItems(crontab.filter(({ task }) => groupOf(task) === group)),
      concurrency,
      localQueue,
      pollMs: timing.pollMs,
      sweepMs: timing.sweepMs,
      alive,
      onFreed,
    });
    runners.set(group, runner);
    await runner.tried;
  }
}

function groupFinder(groups: Record<string, RunnerGroup>) {
  const entries = Object.entries(groups);
  return (task: string) => entries.find(([, { takes }]) => takes(task))?.[0];
}
