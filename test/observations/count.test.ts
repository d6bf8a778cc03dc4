import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownLabels, type Measurement } from '../../src/lib/metrics/recorder.ts';
import { instruments } from '../../src/observations/instruments.ts';
import { counts } from '../../src/observations/metrics.ts';

/** `name{values of its labels} value` */
const spelled = (counted: readonly Measurement[]) =>
  counted.map(({ name, labels, value = 1 }) => `${name}{${Object.values(labels)}} ${value}`);

const ids = {
  orgId: 'o',
  surveyId: 's',
  webhookId: 'w',
  deliveryId: 'd',
  sendId: 'm',
  responseId: 'r',
};
const delivery = {
  ...ids,
  event: 'response.received',
  attempt: 1,
  statusCode: 200,
  error: null,
  ms: 20,
  sinceMs: 5020,
  traceparent: null,
};
const request = { method: 'GET', route: '/s/:token', status: 404, ms: 1500, requestId: 'q' };

/** Cases that the metrics of a running service do not show. */
const table: [what: string, counted: readonly Measurement[], spelled: string[]][] = [
  [
    'a test event is an attempt and no delivery',
    counts.attempted({ ...delivery, event: 'webhook.test', outcome: 'failed' }),
    [
      'askback_delivery_attempts_total{webhook,failed} 1',
      'askback_delivery_attempt_duration_seconds{webhook} 0.02',
    ],
  ],
  [
    'a mail that bounces is over',
    counts.mailed({
      ...ids,
      attempt: 1,
      outcome: 'bounced',
      ms: 20,
      sinceMs: 40,
      traceparent: null,
    }),
    [
      'askback_delivery_attempts_total{mail,bounced} 1',
      'askback_delivery_attempt_duration_seconds{mail} 0.02',
      'askback_deliveries_total{mail,bounced} 1',
      'askback_delivery_duration_seconds{mail} 0.04',
    ],
  ],
  [
    'other events count too',
    counts.emitted({ event: 'summary.generated' }),
    ['askback_events_total{summary.generated} 1'],
  ],
  [
    'a method that HTTP does not know is one of many',
    counts.requestEnded({ ...request, method: 'BREW', tenant: null, traceparent: null }),
    ['http_server_request_duration_seconds{_OTHER,/s/:token,404} 1.5'],
  ],
  [
    'a job that fails counts twice: as run, and as failed',
    counts.jobRan({ task: 'sends.mail', ms: 250, failed: true }),
    ['askback_job_duration_seconds{sends.mail} 0.25', 'askback_job_failures_total{sends.mail} 1'],
  ],
  [
    'who is refused counts by what had too many',
    counts.rateLimited({ by: 'share' }),
    ['askback_rate_limited_total{share} 1'],
  ],
];

for (const [what, counted, expected] of table) {
  test(what, () => {
    assert.deepEqual(spelled(counted), expected);
    for (const { name, labels } of counted) {
      const instrument = instruments.find((each) => each.name === name)!;
      assert.deepEqual(knownLabels(instrument, labels), labels);
    }
  });
}
