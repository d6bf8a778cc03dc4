import type { Instrument } from '../lib/metrics/instrument.ts';
import { surveyTypes } from '../scores.ts';
import {
  categories,
  channels,
  events,
  heldReasons,
  mailReasons,
  methods,
  tasks,
} from './label-values.ts';

const quick = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What signals are counted and measured as. */
export const recorded = [
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
