import { payloads } from '../jobs.ts';
import type { Instrument } from '../lib/metrics/recorder.ts';
import type { HeldReason } from '../responses/rules.ts';
import type { ReasonCode } from '../sends/rules.ts';
import { analyzeTask } from '../summaries/comment-reader.ts';
import { categories, surveyTypes } from '../survey-types.ts';
import { eventTypes } from '../webhooks/events.ts';

const channel = ['webhook', 'mail'];
const event = eventTypes.map(({ type }) => type);
const heldReasons = [
  'hidden_field',
  'hidden_link',
  'scores_opened',
  'scores_posted',
] satisfies HeldReason[];
export const tasks = [...Object.keys(payloads), analyzeTask];
const mailReasons = [
  '',
  'invalid_email',
  'invalid_contact',
  'repeated',
  'already_sent',
  'in_flight',
  'unknown_outcome',
  'unsubscribed',
  'bounced',
  'erased',
  'frequency',
  'refused',
  'deadline',
] satisfies (ReasonCode | 'refused' | 'deadline' | '')[];
/** OpenTelemetry's name for unknown methods. */
export const otherMethod = '_OTHER';
export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', otherMethod];

/** In seconds. */
const latencyBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type Labels = Instrument['labels'];

const counter = <Name extends string>(name: Name, help: string, labels: Labels = {}) =>
  ({ name, kind: 'counter', how: 'recorded', help, labels, fromZero: true }) as const;

const histogram = <Name extends string>(
  name: Name,
  help: string,
  { labels, buckets }: Pick<Required<Instrument>, 'labels' | 'buckets'>,
) => ({ name, kind: 'histogram', how: 'recorded', help, labels, buckets }) as const;

const gauge = (name: string, help: string, labels: Labels = {}) =>
  ({ name, kind: 'gauge', how: 'observed', help, labels }) as const;

const recorded = [
  counter(
    'askback_delivery_attempts_total',
    'Attempts to deliver an event to a webhook, or a mail to the mail server.',
    { channel, outcome: ['delivered', 'retry', 'failed', 'bounced', 'unknown'] },
  ),
  counter(
    'askback_deliveries_total',
    'Deliveries and mails that are over, by what became of them. Test events are not among them.',
    { channel, outcome: ['delivered', 'failed', 'bounced', 'unknown', 'skipped'] },
  ),
  {
    ...counter(
      'askback_mails_total',
      'Contacts in send requests, by what the answer said of them, and why it was not sent.',
      { status: ['sent', 'duplicate', 'failed', 'invalid'], reason: mailReasons },
    ),
    fromZero: false,
  },
  counter('askback_answers_total', 'Answers to surveys that count.', {
    type: surveyTypes,
    category: categories,
  }),
  counter(
    'askback_answers_held_total',
    'Answers that were held because a machine may have given them.',
    { reason: heldReasons },
  ),
  counter(
    'askback_events_total',
    'Events that answers, surveys and summaries caused, published to every subscribed webhook.',
    { event },
  ),
  counter(
    'askback_webhook_deactivations_total',
    'Webhooks that were switched off because their subscriber did not take its deliveries.',
  ),
  counter(
    'askback_rate_limited_total',
    'Requests that were refused because a key, an address or a shared link had too many.',
    { by: ['key', 'address', 'share'] },
  ),
  counter(
    'askback_job_failures_total',
    'Runs of jobs that failed by an error of our own or an outage; the queue runs them again.',
    { task: tasks },
  ),
  histogram('askback_delivery_attempt_duration_seconds', 'How long an attempt took.', {
    labels: { channel },
    buckets: latencyBuckets,
  }),
  histogram(
    'askback_delivery_duration_seconds',
    'From what caused a delivery or a mail until it was over, waiting and retries included.',
    { labels: { channel }, buckets: [...latencyBuckets, 60, 300, 1800, 3600] },
  ),
  histogram('askback_job_duration_seconds', 'How long a run of a job took.', {
    labels: { task: tasks },
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300],
  }),
  {
    ...histogram(
      'http_server_request_duration_seconds',
      'How long a request took, by the route as it is written in the documentation.',
      {
        labels: { http_request_method: methods, http_route: null, http_response_status_code: null },
        buckets: [
          0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60,
        ],
      },
    ),
    convention: {
      name: 'http.server.request.duration',
      labels: {
        http_request_method: 'http.request.method',
        http_route: 'http.route',
        http_response_status_code: 'http.response.status_code',
      },
    },
  },
];

export type RecordedName = (typeof recorded)[number]['name'];

/** All metrics of `/metrics` and OTLP. A test compares them with ops/metrics.md. */
export const instruments: readonly Instrument[] = [
  ...recorded,
  gauge('askback_queue_jobs', 'Jobs that wait in the queue, due or not.', { task: tasks }),
  gauge('askback_queue_oldest_seconds', 'For how long the oldest waiting job has been due.', {
    task: tasks,
  }),
  gauge(
    'askback_pending_deliveries',
    'Deliveries that are not over, and mails of jobs that are not over.',
    { channel },
  ),
  gauge(
    'askback_pending_oldest_seconds',
    'The age of the oldest of those; a retry of a delivery ages from when it is due, a mail from when it was first put off.',
    { channel },
  ),
  gauge(
    'askback_mail_server_up',
    'Whether mails can leave: 0 while the mail server does not take connections or the login. Only where jobs run.',
  ),
  gauge('askback_webhooks', 'Webhooks, by whether they are switched on.', {
    state: ['active', 'inactive'],
  }),
  gauge('askback_runner_up', 'Whether the runner of jobs is running in this process.'),
  {
    ...gauge(
      'askback_runner_restarts_total',
      'How often the runner of jobs ended unexpectedly and was started again.',
    ),
    kind: 'counter',
  },
  gauge(
    'askback_db_pool_connections',
    'Connections of the pool that a query or transaction has (busy), or could have at once (idle).',
    { state: ['busy', 'idle'] },
  ),
  gauge('askback_db_pool_limit', 'Connections that the pool may have.'),
  gauge(
    'askback_db_pool_waiting',
    'Queries and transactions that wait for a connection, for the turn of their organization, or behind another query on one.',
  ),
  gauge(
    'askback_read_replica_up',
    'Whether reads go to the replica; 0 while it is passed over, or where there is none.',
  ),
  gauge(
    'askback_read_replica_lag_seconds',
    'How far the replica is behind the primary; 0 where there is none.',
  ),
  gauge('askback_build_info', 'Always 1; the labels say what is running.', {
    version: null,
    node: null,
  }),
  gauge('askback_ready', 'Whether this process is ready to serve, as /readyz says.'),
];
