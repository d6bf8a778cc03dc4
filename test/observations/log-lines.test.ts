import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestEnded } from '../../src/lib/http/http.ts';
import { writeLines } from '../../src/observations/metrics.ts';
import { attempted, deactivated, mailed } from '../../src/signals.ts';
import { keptLog } from '../support/probe/log.ts';

const trace_id = '4'.repeat(32);
const traceparent = `00-${trace_id}-${'7'.repeat(16)}-01`;
const org = { orgId: 'an organization' };
const org_id = org.orgId;

const request = {
  method: 'GET',
  status: 404,
  ms: 1.6,
  requestId: 'a request',
  traceparent,
  tenant: null,
};
const requestLine = { method: 'GET', status: 404, ms: 2, request_id: 'a request', trace_id };
const delivery = {
  ...org,
  webhookId: 'a webhook',
  deliveryId: 'a delivery',
  event: 'response.received',
  ...({ attempt: 2, outcome: 'failed', statusCode: null, error: 'timeout' } as const),
  ms: 20.4,
  sinceMs: 5020,
  traceparent,
};
const mail = {
  ...org,
  surveyId: 'a survey',
  sendId: 'a send',
  attempt: 1,
  sinceMs: 7,
  traceparent,
};
const mailLine = { send_id: 'a send', survey_id: 'a survey', org_id, attempt: 1, trace_id };

type Line = [level: string, words: string, fields: object];
const table: [what: string, publish: () => void, lines: Line[]][] = [
  [
    'a request',
    () => requestEnded.publish({ ...request, route: '/s/:token', tenant: org_id }),
    [['info', 'request', { ...requestLine, route: '/s/:token', org_id }]],
  ],
  [
    'a request that took less',
    () => requestEnded.publish({ ...request, ms: 1.4, route: '/s/:token' }),
    [['info', 'request', { ...requestLine, ms: 1, route: '/s/:token', org_id: null }]],
  ],
  ...['/healthz', '/readyz', '/metrics'].map((route): (typeof table)[number] => [
    `a probe of ${route}`,
    () => requestEnded.publish({ ...request, route }),
    [],
  ]),
  [
    'an attempt at a delivery',
    () => attempted.publish(delivery),
    [
      [
        'info',
        'delivery',
        {
          event: 'response.received',
          attempt: 2,
          outcome: 'failed',
          status: null,
          error: 'timeout',
          ms: 20,
          delivery_id: 'a delivery',
          webhook_id: 'a webhook',
          org_id,
          trace_id,
        },
      ],
    ],
  ],
  [
    'an attempt that took longer',
    () => attempted.publish({ ...delivery, ms: 20.6 }),
    [
      [
        'info',
        'delivery',
        {
          event: 'response.received',
          attempt: 2,
          outcome: 'failed',
          status: null,
          error: 'timeout',
          ms: 21,
          delivery_id: 'a delivery',
          webhook_id: 'a webhook',
          org_id,
          trace_id,
        },
      ],
    ],
  ],
  [
    'a mail that went out',
    () => mailed.publish({ ...mail, outcome: 'sent', ms: 12.7 }),
    [['info', 'mail', { ...mailLine, outcome: 'sent', ms: 13 }]],
  ],
  [
    'a mail that went out sooner',
    () => mailed.publish({ ...mail, outcome: 'sent', ms: 12.4 }),
    [['info', 'mail', { ...mailLine, outcome: 'sent', ms: 12 }]],
  ],
  [
    'a mail that ended without an attempt',
    () => mailed.publish({ ...mail, outcome: 'unknown', ms: null }),
    [['info', 'mail', { ...mailLine, outcome: 'unknown', ms: null }]],
  ],
  [
    'a webhook that was switched off',
    () => deactivated.publish({ ...org, webhookId: 'a webhook' }),
    [['warn', 'a webhook was switched off', { webhook_id: 'a webhook', org_id }]],
  ],
];

for (const [what, publish, expected] of table) {
  test(`the log of ${what}, and none after its end`, () => {
    const { lines, log } = keptLog();
    const end = writeLines(log);
    publish();
    end();
    publish();
    assert.deepEqual(lines, expected);
  });
}
