import type { JobHelpers, TaskList } from 'graphile-worker';
import * as v from 'valibot';
import { isDatabaseAway } from '../db.ts';
import { happening } from '../happening.ts';
import type { Log } from '../log.ts';

/** What is known of a job beside its payload. */
export type JobRun = {
  task: string;
  id: string;
  /** 1 the first time; more after a crash, an outage, or an error of our own. */
  attempt: number;
  maxAttempts: number;
  due: Date;
  /** The `traceparent` of whatever caused the job. */
  traceparent: string | undefined;
};

/** How a run of a job ended. */
export const jobRan = happening<{ task: string; ms: number; failed: boolean }>();

export type Task = (payload: unknown, job: JobRun) => Promise<void>;

/** A span, a timer: whatever goes around the run of every job. It must call the work once. */
export type AroundJob = (job: JobRun, work: () => Promise<void>) => Promise<void>;

/** A task sees its payload only after the schema has accepted it. */
export function task<Payload>(
  schema: v.GenericSchema<unknown, Payload>,
  run: (payload: Payload, job: JobRun) => Promise<unknown>,
): Task {
  return async (payload, job) => {
    await run(v.parse(schema, payload), job);
  };
}

/** The same tasks as Graphile calls them. Every job of the service runs through here. */
export function graphileTasks(tasks: Record<string, Task>, { around, log }: Surroundings) {
  const list: TaskList = {};
  for (const [name, run] of Object.entries(tasks)) {
    list[name] = async (payload, helpers) => {
      const job = describe(name, payload, helpers);
      const began = performance.now();
      const ended = (failed: boolean) =>
        jobRan.tell({ task: name, ms: performance.now() - began, failed });
      try {
        await around(job, () => run(payload, job));
        ended(false);
      } catch (error) {
        ended(true);
        logFailure(log, job, error);
        throw error; // so that the queue runs the job again
      }
    };
  }
  return list;
}

type Surroundings = { around: AroundJob; log: Log };

const Traced = v.object({ _trace: v.string() });

function describe(name: string, payload: unknown, { job }: JobHelpers): JobRun {
  return {
    task: name,
    id: String(job.id),
    attempt: job.attempts,
    maxAttempts: job.max_attempts,
    due: job.run_at,
    traceparent: v.is(Traced, payload) ? payload._trace : undefined,
  };
}

/** While Postgres is away every job fails alike: that is one outage, not many faults. */
function logFailure(log: Log, { task, id, attempt }: JobRun, error: unknown) {
  const level = isDatabaseAway(error) ? 'debug' : 'error';
  log[level]({ err: error, task, job: id, attempt }, 'a job failed and will be tried again');
}
