import { payloads } from '../jobs.ts';
import type { Instrument } from '../lib/metrics/recorder.ts';
import type { HeldReason } from '../responses/rules.ts';
import type { ReasonCode } from '../sends/rules.ts';
import { analyzeTask } from '../summaries/comment-reader.ts';
import { type Category, surveyTypes } from '../survey-types.ts';
import { eventTypes } from '../webhooks/events.ts';

const channels = ['webhook', 'mail'];
const categories = names<Category>({ promoter: 1, passive: 1, detractor: 1 });
const events = eventTypes.map(({ type }) => type);
const heldReasons = names<HeldReason>({
  hidden_field: 1,
  hidden_link: 1,
  scores_opened: 1,
  scores_posted: 1,
});
export const tasks = [...Object.keys(payloads), analyzeTask];
const mailReasons = names<ReasonCode | 'refused' | 'deadline' | ''>({
  '': 1,
  invalid_email: 1,
  invalid_contact: 1,
  repeated: 1,
  already_sent: 1,
  in_flight: 1,
  unknown_outcome: 1,
  unsubscribed: 1,
  bounced: 1,
  erased: 1,
  frequency: 1,
  refused: 1,
  deadline: 1,
});
/** What OpenTelemetry calls a method that HTTP does not know. */
export const otherMethod = '_OTHER';
export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', otherMethod];

function names<Name extends string>(all: Readonly<Record<Name, 1>>): readonly string[] {
  return Object.keys(all);
}

/** Seconds of what a person or a subscriber waits for. */
const quick = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const recorded = [
  {
    name: 'askback_delivery_attempts_total',
    kind: 'counter',
    help: 'Attempts to deliver an event to a webhook, or a mail to the mail server.',
    labels: {
      channel: channels,
      outcome: ['delivered', 'retry', 'failed', 'bounced', 'unknown'],
    },
    fromZero: true,
  },
  {
    name: 'askback_deliveries_total',
    kind: 'counter',
    help: 'Deliveries and mails that are over, by what became of them. Test events are not among them.',
    labels: {
      channel: channels,
      outcome: ['delivered', 'failed', 'bounced', 'unknown', 'skipped'],
    },
    fromZero: true,
  },
  {
    name: 'askback_mails_total',
    kind: 'counter',
    help: 'Contacts in send requests, by what the answer said of them, and why it was not sent.',
    labels: { status: ['sent', 'duplicate', 'failed', 'invalid'], reason: mailReasons },
  },
  {
    name: 'askback_answers_total',
    kind: 'counter',
    help: 'Answers to surveys that count.',
    labels: { type: surveyTypes, category: categories },
    fromZero: true,
  },
  {
    name: 'askback_answers_held_total',
    kind: 'counter',
    help: 'Answers that were held because a machine may have given them.',
    labels: { reason: heldReasons },
    fromZero: true,
  },
  {
    name: 'askback_events_total',
    kind: 'counter',
    help: 'Events that answers, surveys and summaries caused, published to every subscribed webhook.',
    labels: { event: events },
    fromZero: true,
  },
  {
    name: 'askback_webhook_deactivations_total',
    kind: 'counter',
    help: 'Webhooks that were switched off because their subscriber did not take its deliveries.',
    labels: {},
    fromZero: true,
  },
  {
    name: 'askback_rate_limited_total',
    kind: 'counter',
    help: 'Requests that were refused because a key, an address or a shared link had too many.',
    labels: { by: ['key', 'address', 'share'] },
    fromZero: true,
  },
  {
    name: 'askback_job_failures_total',
    kind: 'counter',
    help: 'Runs of jobs that failed by an error of our own or an outage; the queue runs them again.',
    labels: { task: tasks },
    fromZero: true,
  },
  {
    name: 'askback_delivery_attempt_duration_seconds',
    kind: 'histogram',
    help: 'How long an attempt took.',
    unit: 'seconds',
    labels: { channel: channels },
    buckets: quick,
  },
  {
    name: 'askback_delivery_duration_seconds',
    kind: 'histogram',
    help: 'From what caused a delivery or a mail until it was over, waiting and retries included.',
    unit: 'seconds',
    labels: { channel: channels },
    buckets: [...quick, 60, 300, 1800, 3600],
  },
  {
    name: 'askback_job_duration_seconds',
    kind: 'histogram',
    help: 'How long a run of a job took.',
    unit: 'seconds',
    labels: { task: tasks },
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300],
  },
  {
    name: 'http_server_request_duration_seconds',
    kind: 'histogram',
    help: 'How long a request took, by the route as it is written in the documentation.',
    unit: 'seconds',
    labels: { http_request_method: methods, http_route: null, http_response_status_code: null },
    buckets: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60],
    convention: {
      name: 'http.server.request.duration',
      labels: {
        http_request_method: 'http.request.method',
        http_route: 'http.route',
        http_response_status_code: 'http.response.status_code',
      },
    },
  },
] as const satisfies readonly Omit<Instrument, 'how'>[];

export type RecordedName = (typeof recorded)[number]['name'];

const observed = [
  {
    name: 'askback_queue_jobs',
    kind: 'gauge',
    help: 'Jobs that wait in the queue, due or not.',
    labels: { task: tasks },
  },
  {
    name: 'askback_queue_oldest_seconds',
    kind: 'gauge',
    help: 'For how long the oldest waiting job has been due.',
    unit: 'seconds',
    labels: { task: tasks },
  },
  {
    name: 'askback_pending_deliveries',
    kind: 'gauge',
    help: 'Deliveries that are not over, and mails of jobs that are not over.',
    labels: { channel: channels },
  },
  {
    name: 'askback_pending_oldest_seconds',
    kind: 'gauge',
    help: 'The age of the oldest of those; a retry ages from when it is due.',
    unit: 'seconds',
    labels: { channel: channels },
  },
  {
    name: 'askback_webhooks',
    kind: 'gauge',
    help: 'Webhooks, by whether they are switched on.',
    labels: { state: ['active', 'inactive'] },
  },
  {
    name: 'askback_runner_up',
    kind: 'gauge',
    help: 'Whether the runner of jobs is running in this process.',
    labels: {},
  },
  {
    name: 'askback_runner_restarts_total',
    kind: 'counter',
    help: 'How often the runner of jobs ended unexpectedly and was started again.',
    labels: {},
  },
  {
    name: 'askback_db_pool_connections',
    kind: 'gauge',
    help: 'Connections of the pool that a query or transaction has (busy), or could have at once (idle).',
    labels: { state: ['busy', 'idle'] },
  },
  {
    name: 'askback_db_pool_limit',
    kind: 'gauge',
    help: 'Connections that the pool may have.',
    labels: {},
  },
  {
    name: 'askback_db_pool_waiting',
    kind: 'gauge',
    help: 'Queries and transactions that wait for a connection, for the turn of their organization, or behind another query on one.',
    labels: {},
  },
  {
    name: 'askback_read_replica_up',
    kind: 'gauge',
    help: 'Whether reads go to the replica; 0 while it is passed over, or where there is none.',
    labels: {},
  },
  {
    name: 'askback_read_replica_lag_seconds',
    kind: 'gauge',
    help: 'How far the replica is behind the primary; 0 where there is none.',
    unit: 'seconds',
    labels: {},
  },
  {
    name: 'askback_build_info',
    kind: 'gauge',
    help: 'Always 1; the labels say what is running.',
    labels: { version: null, node: null },
  },
  {
    name: 'askback_ready',
    kind: 'gauge',
    help: 'Whether this process is ready to serve, as /readyz says.',
    labels: {},
  },
] as const satisfies readonly Omit<Instrument, 'how'>[];

/** Everything that `/metrics` and OTLP show. ops/metrics.md describes it, and a test compares the two. */
export const instruments: readonly Instrument[] = [
  ...recorded.map((each) => ({ ...each, how: 'recorded' as const })),
  ...observed.map((each) => ({ ...each, how: 'observed' as const })),
];
