import type { Signal } from '../lib/async/signal.ts';
import { type EndedRequest, requestEnded } from '../lib/http/http.ts';
import { type Labels, type Measurement, type Recorder, traceOf } from '../lib/metrics/recorder.ts';
import { jobRan } from '../lib/queue/task.ts';
import * as signals from '../signals.ts';
import { methods, otherMethod, type RecordedName } from './instruments.ts';

type Count = Measurement & { name: RecordedName };
type Facts<Of> = Of extends Signal<infer What> ? What : never;

/** Records everything that is published, until the function that it gives back is called. */
export function countSignals(record: Recorder['record']) {
  const ends = (Object.keys(counts) as (keyof typeof counts)[]).map((name) => {
    const toCounts = counts[name] as (facts: unknown) => Count[];
    const source = sources[name] as Signal<unknown>;
    return source.subscribe((facts) => {
      const trace = traceOf((facts as { traceparent?: string | null }).traceparent);
      for (const count of toCounts(facts)) record(count, trace);
    });
  });
  return () => {
    for (const end of ends) end();
  };
}

const sources = { ...signals, requestEnded, jobRan };

/** What each signal counts as. */
export const counts = {
  requestEnded: ({ method, route, status, ms }: EndedRequest) => [
    seconds('http_server_request_duration_seconds', ms, {
      http_request_method: methods.includes(method) ? method : otherMethod,
      http_route: route,
      http_response_status_code: String(status),
    }),
  ],
  jobRan: ({ task, ms, failed }: Facts<typeof jobRan>) => [
    seconds('askback_job_duration_seconds', ms, { task }),
    ...(failed ? [one('askback_job_failures_total', { task })] : []),
  ],
  attempted: ({ event, outcome, ms, sinceMs }: Facts<typeof signals.attempted>) =>
    attempt('webhook', { outcome, ms, sinceMs: event === 'webhook.test' ? null : sinceMs }),
  mailed: ({ outcome, ms, sinceMs }: Facts<typeof signals.mailed>) =>
    attempt('mail', { outcome: outcome === 'sent' ? 'delivered' : outcome, ms, sinceMs }),
  skipped: ({ deliveries }: Facts<typeof signals.skipped>) => [
    {
      ...one('askback_deliveries_total', { channel: 'webhook', outcome: 'skipped' }),
      value: deliveries,
    },
  ],
  emitted: ({ event }: Facts<typeof signals.emitted>) => [one('askback_events_total', { event })],
  deactivated: () => [one('askback_webhook_deactivations_total', {})],
  sendAnswered: ({ results }: Facts<typeof signals.sendAnswered>) =>
    results.map(({ status, reason_code: reason = '' }) =>
      one('askback_mails_total', { status, reason }),
    ),
  answered: ({ type, category, held, events }: Facts<typeof signals.answered>) =>
    held === null
      ? [
          one('askback_answers_total', { type, category }),
          ...events.map((event) => one('askback_events_total', { event })),
        ]
      : [one('askback_answers_held_total', { reason: held })],
  rateLimited: ({ by }: Facts<typeof signals.rateLimited>) => [
    one('askback_rate_limited_total', { by }),
  ],
} satisfies { [Name in keyof typeof sources]: (facts: Facts<(typeof sources)[Name]>) => Count[] };

type Attempt = { outcome: string; ms: number | null; sinceMs: number | null };

/**
 * An attempt that is not followed by another ends its delivery. One of a test event ends none. What ended
 * without an attempt is counted among the ends alone.
 */
function attempt(channel: 'webhook' | 'mail', { outcome, ms, sinceMs }: Attempt): Count[] {
  const tried =
    ms === null
      ? []
      : [
          one('askback_delivery_attempts_total', { channel, outcome }),
          seconds('askback_delivery_attempt_duration_seconds', ms, { channel }),
        ];
  if (outcome === 'retry' || sinceMs === null) return tried;
  return [
    ...tried,
    one('askback_deliveries_total', { channel, outcome }),
    seconds('askback_delivery_duration_seconds', sinceMs, { channel }),
  ];
}

const one = (name: RecordedName, labels: Labels): Count => ({ name, labels });

const seconds = (name: RecordedName, ms: number, labels: Labels): Count => ({
  name,
  labels,
  value: ms / 1000,
});
