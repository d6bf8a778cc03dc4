import { SpanKind } from '@opentelemetry/api';
import type { SpanDescription } from '../tracing/spans.ts';

/** Named as OpenTelemetry's semantic conventions for messaging want it. */
const queue = { 'messaging.system': 'graphile_worker' };

/** The transaction that writes a job, with everything else that it writes. */
export const enqueueSpan = (task: string): SpanDescription => ({
  name: `send ${task}`,
  kind: SpanKind.PRODUCER,
  attributes: {
    ...queue,
    'messaging.operation.name': 'send',
    'messaging.operation.type': 'send',
    'messaging.destination.name': task,
  },
});

/** The run of a job. */
export const jobSpan = (
  job: { task: string; id: string; attempt: number },
  program: string,
): SpanDescription => ({
  name: `process ${job.task}`,
  kind: SpanKind.CONSUMER,
  attributes: {
    ...queue,
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': job.task,
    'messaging.message.id': job.id,
    [`${program}.job.attempt`]: job.attempt,
  },
});
