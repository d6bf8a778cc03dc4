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
const answer = { ...ids, type: 'csat', category: 'detractor', traceparent: null } as const;
const request = { method: 'GET', route: '/s/:token', status: 404, ms: 1500, requestId: 'q' };

const table: [what: string, counted: readonly Measurement[], spelled: string[]][] = [
  [
    'a delivery that arrives ends with its attempt',
    counts.attempted({ ...delivery, outcome: 'delivered' }),
    [
      'askback_delivery_attempts_total{webhook,delivered} 1',
      'askback_delivery_attempt_duration_seconds{webhook} 0.02',
      'askback_deliveries_total{webhook,delivered} 1',
      'askback_delivery_duration_seconds{webhook} 5.02',
    ],
  ],
  [
    'an attempt that is tried again ends nothing',
    counts.attempted({ ...delivery, outcome: 'retry' }),
    [
      'askback_delivery_attempts_total{webhook,retry} 1',
      'askback_delivery_attempt_duration_seconds{webhook} 0.02',
    ],
  ],
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
    'a mail that was sent counts as delivered',
    counts.mailed({ ...ids, attempt: 1, outcome: 'sent', ms: 20, sinceMs: 40, traceparent: null }),
    [
      'askback_delivery_attempts_total{mail,delivered} 1',
      'askback_delivery_attempt_duration_seconds{mail} 0.02',
      'askback_deliveries_total{mail,delivered} 1',
      'askback_delivery_duration_seconds{mail} 0.04',
    ],
  ],
  [
    'what is skipped was never tried',
    counts.skipped({ deliveries: 3 }),
    ['askback_deliveries_total{webhook,skipped} 3'],
  ],
  [
    'an answer counts with its events',
    counts.answered({ ...answer, held: null, events: ['response.received', 'survey.completed'] }),
    [
      'askback_answers_total{csat,detractor} 1',
      'askback_events_total{response.received} 1',
      'askback_events_total{survey.completed} 1',
    ],
  ],
  [
    'an answer that is held counts only as that',
    counts.answered({ ...answer, held: 'hidden_link', events: [] }),
    ['askback_answers_held_total{hidden_link} 1'],
  ],
  [
    'other events count too',
    counts.emitted({ event: 'summary.generated' }),
    ['askback_events_total{summary.generated} 1'],
  ],
  [
    'each contact of a send counts by what became of it',
    counts.sendAnswered({
      ...ids,
      results: [{ status: 'sent' }, { status: 'duplicate', reason_code: 'frequency' }],
    }),
    ['askback_mails_total{sent,} 1', 'askback_mails_total{duplicate,frequency} 1'],
  ],
  [
    'a request counts by its route',
    counts.requestEnded({ ...request, tenant: 'o', traceparent: null }),
    ['http_server_request_duration_seconds{GET,/s/:token,404} 1.5'],
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
    'a webhook that is switched off counts',
    counts.deactivated(),
    ['askback_webhook_deactivations_total{} 1'],
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

test('every recorded instrument has a signal', () => {
  const counted = new Set(table.flatMap(([, each]) => each.map(({ name }) => name)));
  const recorded = instruments.filter(({ how }) => how === 'recorded').map(({ name }) => name);
  assert.deepEqual([...counted].sort(), recorded.sort());
});
