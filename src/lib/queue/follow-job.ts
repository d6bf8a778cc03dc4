import { inSpan } from '../tracing/spans.ts';
import { jobSpan } from './spans.ts';
import type { JobRun } from './task.ts';

/** A span around the run of a job, which continues the trace of what caused it. */
export function followJob(job: JobRun, work: (job: JobRun) => Promise<void>): Promise<void> {
  const { traceparent, causedAt } = job;
  const cause = { traceparent, agoMs: Date.now() - causedAt.getTime() };
  return inSpan(
    cause,
    () => jobSpan(job),
    (own) => work({ ...job, traceparent: own.traceparent }),
  );
}
