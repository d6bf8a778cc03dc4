import { setTimeout as sleep } from 'node:timers/promises';
import { type CronItem, parseCronItems } from 'graphile-worker';
import type { Db } from '../db/db.ts';
import type { Log } from '../log/log.ts';
import { startDueTimes } from './due-times.ts';
import { startPump } from './pump.ts';
import { type RunnerState, type SupervisedRunner, superviseRunner } from './runner.ts';
import { graphileTasks, type Task } from './task.ts';

/**
 * Mail has a runner of its own, so that a thousand slow mails do not keep webhooks waiting, nor the
 * other way round. So has the reading of comments: an endpoint that takes its time, or a whole
 * history, is in nobody's way.
 */
const lanes = {
  mail: { takes: (task: string) => laneOf(task) === 'mail', concurrency: 50, localQueue: 100 },
  reading: { takes: (task: string) => laneOf(task) === 'reading', concurrency: 8, localQueue: 16 },
  rest: { takes: (task: string) => laneOf(task) === 'rest', concurrency: 100, localQueue: 200 },
};

function laneOf(task: string) {
  if (task.startsWith('sends.')) return 'mail';
  return task.startsWith('summaries.') ? 'reading' : 'rest';
}

/** The backstops; a job normally starts by a nudge and is swept for cachedFor. */
const usual = { pollMs: 500, sweepMs: 200, stopWithinMs: 25_000 };

/** For letting go of what was still in hand at the deadline. */
const letGoWithinMs = 2000;

export type Lane = keyof typeof lanes;

export type Jobs = {
  /** Hands committed outbox rows to the queue; call it after a commit that wrote some. */
  pump: () => void;
  /** The runners that have tasks. Ready means that all of them are running. */
  state: () => Partial<Record<Lane, RunnerState>>;
  /** Jobs in hand finish; nothing stays locked. */
  stop: () => Promise<void>;
};

export type JobsOptions = {
  url: string;
  db: Db;
  log: Log;
  tasks: Record<string, Task>;
  crontab?: CronItem[];
  /** Called when a process has died and what it had in hand is free: work that no job holds may be, too. */
  onFreed?: () => void;
  timing?: Partial<typeof usual>;
};

/** Starts to work on the queue; resolves when each runner has run or failed once. */
export async function startJobs(options: JobsOptions): Promise<Jobs> {
  const { db, log } = options;
  const timing = { ...usual, ...options.timing };
  const runners = new Map<Lane, SupervisedRunner>();
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
    state: () => Object.fromEntries([...runners].map(([lane, runner]) => [lane, runner.state()])),
    async stop() {
      const within = (ms: number) => sleep(ms, undefined, { ref: false });
      const deadline = within(timing.stopWithinMs);
      const orderly = [pump, dueTimes, ...runners.values()].map((part) => part.stop(deadline));
      await Promise.race([Promise.all(orderly), within(timing.stopWithinMs + letGoWithinMs)]);
    },
  };
}

type Start = {
  runners: Map<Lane, SupervisedRunner>;
  timing: typeof usual;
  nudge: () => void;
};

/** One after the other: on a new database the first one migrates Graphile's own schema. */
async function startRunners(options: JobsOptions, { runners, timing, nudge }: Start) {
  const { url, log, tasks, crontab = [] } = options;
  const onFreed = () => {
    nudge();
    options.onFreed?.();
  };
  const alive = new Set<string>();
  for (const [lane, { takes, concurrency, localQueue }] of Object.entries(lanes)) {
    const own = Object.fromEntries(Object.entries(tasks).filter(([name]) => takes(name)));
    if (Object.keys(own).length === 0) continue;
    const runner = superviseRunner(lane, {
      url,
      log,
      tasks: graphileTasks(own, log),
      crontab: parseCronItems(crontab.filter(({ task }) => takes(task))),
      concurrency,
      localQueue,
      pollMs: timing.pollMs,
      sweepMs: timing.sweepMs,
      alive,
      onFreed,
    });
    runners.set(lane as Lane, runner);
    await runner.tried;
  }
}
