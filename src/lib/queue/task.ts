import { SpanKind } from '@opentelemetry/api';
import type { TaskList } from 'graphile-worker';
import * as v from 'valibot';
import { signal } from '../async/deadline.ts';
import { isDatabaseAway } from '../db/db.ts';
import type { Log } from '../log/log.ts';
import { inSpan, type SpanDescription } from '../tracing/spans.ts';
import { maxAttempts } from './enqueue.ts';

export type JobRun = {
  task: string;
  id: string;
  attempt: number;
  /** The trace context of the cause. Inside the job, the trace context of the job's span. */
  traceparent: string | null;
  causedAt: Date;
};

export const jobRan = signal<{ task: string; ms: number; failed: boolean }>();

/** Thrown by a job that another server has turned away for now. The queue retries the job, which has not failed. */
export class TurnedAway extends Error {}

export type Task = (payload: unknown, job: JobRun) => Promise<void>;

export function task<Payload>(
  schema: v.GenericSchema<unknown, Payload>,
  run: (payload: Payload, job: JobRun) => Promise<unknown>,
): Task {
  return async (payload, job) => {
    await run(v.parse(schema, payload), job);
  };
}

const Traced = v.object({ _trace: v.string(), _caused_at: v.number() });

export function graphileTasks(tasks: Record<string, Task>, log: Log) {
  const list: TaskList = {};
  for (const [name, run] of Object.entries(tasks)) {
    list[name] = async (payload, { job: row }) => {
      const cause = v.is(Traced, payload) ? payload : undefined;
      const job = {
        task: name,
        id: String(row.id),
        attempt: row.attempts,
        traceparent: cause?._trace ?? null,
        causedAt: cause ? new Date(cause._caused_at) : row.created_at,
      };
      await runJob(log, job, ({ traceparent }) => run(payload, { ...job, traceparent }));
    };
  }
  return list;
}

/** Runs a job in a span that continues the trace of its cause. Rethrows errors that the queue retries. */
export async function runJob(
  log: Log,
  job: JobRun,
  work: (own: Pick<JobRun, 'traceparent'>) => Promise<void>,
) {
  const { task, traceparent, causedAt } = job;
  const began = performance.now();
  const ended = (failed: boolean) =>
    jobRan.publish({ task, ms: performance.now() - began, failed });
  const cause = { traceparent, agoMs: Date.now() - causedAt.getTime() };
  try {
    await inSpan(cause, () => jobSpan(job), work);
    ended(false);
  } catch (error) {
    const isTurnedAway = error instanceof TurnedAway;
    ended(!isTurnedAway);
    const fields = { err: error, task, job: job.id, attempt: job.attempt };
    if (isTurnedAway && job.attempt >= maxAttempts) {
      log.warn(fields, 'a job was given up');
      return;
    }
    // The outage itself is logged once, and another process runs an aborted job.
    const isExpected =
      isTurnedAway || isDatabaseAway(error) || (error as Error | null)?.name === 'AbortError';
    log[isExpected ? 'debug' : 'error'](fields, 'a job failed and will be tried again');
    throw error;
  }
}

const messageOf = (operation: 'send' | 'process', task: string) => ({
  'messaging.system': 'graphile_worker',
  'messaging.operation.name': operation,
  'messaging.operation.type': operation,
  'messaging.destination.name': task,
});

export const enqueueSpan = (task: string): SpanDescription => ({
  name: `send ${task}`,
  kind: SpanKind.PRODUCER,
  attributes: messageOf('send', task),
});

const jobSpan = ({ task, id, attempt }: JobRun): SpanDescription => ({
  name: `process ${task}`,
  kind: SpanKind.CONSUMER,
  attributes: {
    ...messageOf('process', task),
    'messaging.message.id': id,
    'askback.job.attempt': attempt,
  },
});
