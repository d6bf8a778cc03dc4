import * as v from 'valibot';
import { Moment } from '../lib/cli/options.ts';
import { Uuid } from '../lib/validation/parse.ts';
import { isPlainLine } from '../lib/validation/plain-line.ts';
import { type EventType, eventTypes } from './events.ts';
import { firstRetrySeconds, retryKinds } from './rules.ts';

const longestUrl = 2000;
const longestDescription = 500;

const types = eventTypes.map(({ type }) => type) as [EventType, ...EventType[]];

const Events = v.pipe(
  v.array(v.picklist(types, `must be among ${types.join(', ')}`)),
  v.minLength(1, 'must name at least one event'),
  v.transform((events) => [...new Set(events)]),
);
const Url = v.pipe(
  v.string(),
  v.maxLength(longestUrl, `must have at most ${longestUrl} characters`),
  v.metadata({ format: 'uri' }),
);
const Description = v.nullable(
  v.pipe(
    v.string(),
    v.maxLength(longestDescription, `must have at most ${longestDescription} characters`),
    v.check(isPlainLine, 'must be one line without control characters'),
  ),
);

const Retries = v.pipe(
  v.picklist(retryKinds, `must be ${retryKinds.join(' or ')}`),
  v.description(
    `standard: one retry after ${firstRetrySeconds} seconds; switched off after 3 deliveries that failed in a row. extended: ` +
      `retries after ${firstRetrySeconds} s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, each up to 10 % sooner or later; switched off ` +
      'when nothing was delivered for 3 days and 3 deliveries in a row failed.',
  ),
);

export const NewWebhook = v.object({
  org_id: v.optional(v.string()),
  url: Url,
  events: Events,
  description: v.optional(Description),
  retries: v.optional(Retries),
});

export const WebhookChange = v.object({
  url: v.optional(Url),
  events: v.optional(Events),
  description: v.optional(Description),
  retries: v.optional(Retries),
  active: v.optional(v.boolean()),
});

const Since = v.pipe(
  v.string(),
  v.check((text) => v.is(Moment, text), 'must be an ISO 8601 time such as 2027-01-31T12:00:00Z'),
  v.metadata({ format: 'date-time' }),
  v.transform((text) => new Date(text)),
);

export const Replay = v.object({ since: Since });

const Time = v.pipe(v.string(), v.isoTimestamp());

export const Webhook = v.object({
  id: Uuid,
  org_id: Uuid,
  url: v.string(),
  events: v.array(v.picklist(types)),
  retries: v.picklist(retryKinds),
  active: v.boolean(),
  failure_count: v.number(),
  description: v.nullable(v.string()),
  created_at: Time,
  updated_at: Time,
  deactivated_at: v.nullable(Time),
  deactivated_reason: v.nullable(v.string()),
  last_delivery_at: v.nullable(Time),
});

export const WebhookWithSecret = v.object({
  ...Webhook.entries,
  secret: v.pipe(v.string(), v.description('Shown in this answer and nowhere else.')),
});

export const Delivery = v.object({
  id: Uuid,
  webhook_id: Uuid,
  event: v.string(),
  status: v.picklist(['pending', 'delivered', 'failed', 'skipped']),
  attempts: v.array(
    v.object({
      number: v.number(),
      status_code: v.nullable(v.number()),
      response_body: v.nullable(v.string()),
      error: v.nullable(v.string()),
      duration_ms: v.number(),
      at: Time,
    }),
  ),
  status_code: v.nullable(v.number()),
  response_body: v.nullable(v.string()),
  created_at: Time,
  delivered_at: v.nullable(Time),
  next_attempt_at: v.nullable(Time),
  trace_id: v.nullable(v.string()),
  trace_url: v.optional(
    v.pipe(
      v.nullable(v.string()),
      v.description('Where the trace can be seen, if the operator has said where that is.'),
    ),
  ),
});

export const TestResult = v.object({
  delivered: v.boolean(),
  status_code: v.nullable(v.number()),
  response_body: v.nullable(v.string()),
  duration_ms: v.number(),
  error: v.nullable(v.string()),
  delivery_id: Uuid,
});
