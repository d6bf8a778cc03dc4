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
    'Attempts to deliver an event to a webhook or an email to the mail server.',
    { channel, outcome: ['delivered', 'retry', 'failed', 'bounced', 'unknown'] },
  ),
  counter(
    'askback_deliveries_total',
    'Final outcomes of deliveries and emails, without test events.',
    { channel, outcome: ['delivered', 'failed', 'bounced', 'unknown', 'skipped'] },
  ),
  {
    ...counter(
      'askback_mails_total',
      'Contacts in send requests, by status and reason in the result.',
      { status: ['sent', 'duplicate', 'failed', 'invalid'], reason: mailReasons },
    ),
    fromZero: false,
  },
  counter('askback_answers_total', 'Responses that count.', {
    type: surveyTypes,
    category: categories,
  }),
  counter(
    'askback_answers_held_total',
    'Responses put on hold because a machine may have submitted them.',
    { reason: heldReasons },
  ),
  counter(
    'askback_events_total',
    'Events of responses, surveys and summaries, with or without subscribed webhooks.',
    { event },
  ),
  counter(
    'askback_webhook_deactivations_total',
    'Webhooks turned off because of failed deliveries.',
  ),
  counter(
    'askback_rate_limited_total',
    'Requests rejected by the rate limit of a key, an address or a shareable link.',
    { by: ['key', 'address', 'share'] },
  ),
  counter(
    'askback_job_failures_total',
    'Job runs that failed because of a bug or an outage, and are retried.',
    { task: tasks },
  ),
  histogram('askback_delivery_attempt_duration_seconds', 'Duration of an attempt.', {
    labels: { channel },
    buckets: latencyBuckets,
  }),
  histogram(
    'askback_delivery_duration_seconds',
    'Time from the cause of a delivery or email to its final outcome, including waiting and retries.',
    { labels: { channel }, buckets: [...latencyBuckets, 60, 300, 1800, 3600] },
  ),
  histogram('askback_job_duration_seconds', 'Duration of a job run.', {
    labels: { task: tasks },
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300],
  }),
  histogram('http_server_request_duration_seconds', 'Duration of a request, by route pattern.', {
    labels: { http_request_method: methods, http_route: null, http_response_status_code: null },
    buckets: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60],
  }),
];

export type RecordedName = (typeof recorded)[number]['name'];

/** All metrics of `/metrics`. A test compares them with ops/metrics.md. */
export const instruments: readonly Instrument[] = [
  ...recorded,
  gauge('askback_queue_jobs', 'Jobs in the queue, due or not.', { task: tasks }),
  gauge('askback_queue_oldest_seconds', 'How long the oldest waiting job has been due.', {
    task: tasks,
  }),
  gauge('askback_pending_deliveries', 'Deliveries and emails without a final outcome.', {
    channel,
  }),
  gauge(
    'askback_pending_oldest_seconds',
    'Age of the oldest pending delivery or email: a retry counts from when it is due, an email from when it was first postponed.',
    { channel },
  ),
  gauge(
    'askback_mail_server_up',
    '1 if emails can be sent, 0 while the mail server refuses connections or the login. Only in processes with jobs.',
  ),
  gauge('askback_webhooks', 'Webhooks by state.', {
    state: ['active', 'inactive'],
  }),
  gauge('askback_runner_up', '1 if the job runner of this process is running.'),
  {
    ...gauge(
      'askback_runner_restarts_total',
      'Restarts of the job runner after it ended unexpectedly.',
    ),
    kind: 'counter',
  },
  gauge('askback_db_pool_connections', 'Pool connections in use (busy) or available (idle).', {
    state: ['busy', 'idle'],
  }),
  gauge('askback_db_pool_limit', 'Size limit of the connection pool.'),
  gauge(
    'askback_db_pool_waiting',
    'Queries and transactions waiting for a connection, for the turn of their organization, or behind another query.',
  ),
  gauge(
    'askback_read_replica_up',
    '1 if reads use the replica, 0 while it is skipped or if there is none.',
  ),
  gauge(
    'askback_read_replica_lag_seconds',
    'Lag of the replica behind the primary; 0 if there is none.',
  ),
  gauge('askback_build_info', 'Always 1, with the running versions as labels.', {
    version: null,
    node: null,
  }),
  gauge('askback_ready', '1 if this process is ready, like /readyz.'),
];
