import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { Moment } from '../lib/cli/command.ts';
import type { Db } from '../lib/db/db.ts';
import { parseBody } from '../lib/http/body.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import { readIfMatch } from '../lib/http/version.ts';
import type { ApiSection } from '../lib/openapi/openapi.ts';
import { idParam, Uuid } from '../lib/validation/parse.ts';
import type { DeliverTools } from './deliver.ts';
import { eventTypes } from './events.ts';
import {
  changeWebhook,
  createWebhook,
  type ManageTools,
  NewWebhook,
  removeWebhook,
  renewSecret,
  testWebhook,
  versionOfWebhook,
  WebhookChange,
} from './manage.ts';
import { getWebhook, listWebhooks } from './queries.ts';
import { erasedSentence, redeliver, replay } from './replay.ts';
import { retryKinds } from './rules.ts';
import { listDeliveries } from './shown-deliveries.queries.ts';

export type WebhookTools = ManageTools &
  DeliverTools & { db: Db; settings: { traceUrl: string | null } };

export const webhookRoutes = (tools: WebhookTools) =>
  new Hono<ApiEnv>()
    .get('/', async (c) => c.json({ webhooks: await listWebhooks(tools.db, c.var.key.org_id) }))

    .post('/', async (c) => {
      const key = requireWrite(c.var.key);
      return c.json(await createWebhook(tools, key, await parseBody(c, NewWebhook)), 201);
    })

    .get('/events', (c) => c.json({ events: eventTypes }))
    .all('/events', (c) => c.notFound()) // keeps other methods away from `/:id`

    .get('/:id', async (c) => {
      const webhook = await getWebhook(tools, c.var.key.org_id, idParam(c, 'webhook'));
      return await answerRead(c, JSON.stringify(webhook), versionOfWebhook(webhook));
    })

    .put('/:id', async (c) => {
      const key = requireWrite(c.var.key);
      const webhookId = idParam(c, 'webhook');
      const change = await parseBody(c, WebhookChange, { optional: true });
      return c.json(
        await changeWebhook(tools, key, { ...change, id: webhookId, ifMatch: readIfMatch(c) }),
      );
    })

    .delete('/:id', async (c) => {
      const key = requireWrite(c.var.key);
      await removeWebhook(tools, key, idParam(c, 'webhook'));
      return c.body(null, 204);
    })

    .post('/:id/rotate-secret', async (c) =>
      c.json(await renewSecret(tools, requireWrite(c.var.key), idParam(c, 'webhook'))),
    )

    .post('/:id/test', async (c) => {
      const key = requireWrite(c.var.key);
      const which = { id: idParam(c, 'webhook'), traceparent: traceparentOf(c) };
      return c.json(await testWebhook(tools, key, which));
    })

    .get('/:id/deliveries', async (c) => {
      const { org_id } = c.var.key;
      const webhook = await getWebhook(tools, org_id, idParam(c, 'webhook'));
      const deliveries = await listDeliveries(
        tools.db,
        { orgId: org_id, webhookId: webhook.id },
        { atMost: deliveriesShown, traceUrl: tools.settings.traceUrl },
      );
      return c.body(`{"deliveries":${deliveries}}`, 200, { 'Content-Type': 'application/json' });
    })

    .post('/:id/deliveries/:delivery_id/redeliver', async (c) => {
      const key = requireWrite(c.var.key);
      const webhookId = idParam(c, 'webhook');
      const deliveryId = idParam(c, 'delivery', 'delivery_id');
      const which = { webhookId, deliveryId, traceparent: traceparentOf(c) };
      return c.json(await redeliver(tools, key, which), 202);
    })

    .post('/:id/replay', async (c) => {
      const key = requireWrite(c.var.key);
      const webhookId = idParam(c, 'webhook');
      const { since } = await parseBody(c, Replay);
      const which = { webhookId, since, traceparent: traceparentOf(c) };
      return c.json(await replay(tools, key, which), 202);
    });

const traceparentOf = (c: Context<ApiEnv>) => c.get('traceparent') ?? null;

const deliveriesShown = 50;

const types = eventTypes.map(({ type }) => type);
const Events = v.object({
  events: v.array(v.object({ type: v.picklist(types), description: v.string() })),
});
const replayRefusals = { 400: ['webhook_inactive'], 409: ['replay_under_way'] } as const;

const Time = v.pipe(v.string(), v.isoTimestamp());

const Webhook = v.object({
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

const WebhookWithSecret = v.object({
  ...Webhook.entries,
  secret: v.pipe(v.string(), v.description('Only returned here.')),
});

const Since = v.pipe(
  v.string(),
  v.check((text) => v.is(Moment, text), 'must be an ISO 8601 time such as 2027-01-31T12:00:00Z'),
  v.metadata({ format: 'date-time' }),
  v.transform((text) => new Date(text)),
);

const Replay = v.object({ since: Since });

const Delivery = v.object({
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
      v.description('Link to the trace, if the operator configured one.'),
    ),
  ),
});

const TestResult = v.object({
  delivered: v.boolean(),
  status_code: v.nullable(v.number()),
  response_body: v.nullable(v.string()),
  duration_ms: v.number(),
  error: v.nullable(v.string()),
  delivery_id: Uuid,
});

export const webhookSection: ApiSection = {
  name: 'Webhooks',
  about: 'Event subscriptions and their deliveries.',
  schemas: { Webhook, WebhookWithSecret, Delivery, WebhookTested: TestResult },
  bodies: { NewWebhook, WebhookChange, Replay },
  operations: {
    'get /api/webhooks': {
      id: 'listWebhooks',
      summary: 'List webhooks',
      about: 'Returns all webhooks of the organization, without secrets.',
      answer: {
        about: 'all webhooks',
        schema: v.object({ webhooks: v.array(Webhook) }),
      },
    },
    'post /api/webhooks': {
      id: 'createWebhook',
      summary: 'Create a webhook',
      about:
        'The URL must be https and resolve to a public address. Store the `secret`: it signs every delivery and is ' +
        'not shown again.',
      body: NewWebhook,
      answer: {
        status: 201,
        about: 'the webhook with its signing secret',
        schema: WebhookWithSecret,
      },
      refusals: { 400: ['forbidden_url', 'too_many_webhooks'] },
    },
    'get /api/webhooks/events': {
      id: 'listWebhookEvents',
      summary: 'List event types',
      about: 'Returns every type that a webhook can subscribe to.',
      answer: { about: 'the event types', schema: Events },
    },
    'get /api/webhooks/{id}': {
      id: 'getWebhook',
      summary: 'Get a webhook',
      about:
        'Shows whether it is active, how many deliveries failed in a row, and why it was deactivated.',
      answer: { about: 'the webhook', schema: Webhook },
    },
    'put /api/webhooks/{id}': {
      id: 'changeWebhook',
      summary: 'Change a webhook or turn it on again',
      about: '`{"active": true}` turns a deactivated webhook on and resets its `failure_count`.',
      ifMatch: true,
      body: WebhookChange,
      bodyOptional: true,
      answer: { about: 'the changed webhook', schema: Webhook },
      refusals: { 400: ['forbidden_url'] },
    },
    'delete /api/webhooks/{id}': {
      id: 'deleteWebhook',
      summary: 'Delete a webhook',
      about: 'Also deletes its deliveries.',
      answer: { status: 204, about: 'the webhook is deleted' },
    },
    'post /api/webhooks/{id}/rotate-secret': {
      id: 'rotateWebhookSecret',
      summary: 'Rotate the secret of a webhook',
      about: 'The old secret also signs for 24 hours, in `webhook-signature`.',
      answer: { about: 'the webhook with its new secret', schema: WebhookWithSecret },
    },
    'post /api/webhooks/{id}/test': {
      id: 'testWebhook',
      summary: 'Send a test event',
      about: 'Works on inactive webhooks. A test is not retried and never counts as a failure.',
      answer: { about: 'the result of the attempt', schema: TestResult },
    },
    'get /api/webhooks/{id}/deliveries': {
      id: 'listDeliveries',
      summary: `List the last ${deliveriesShown} deliveries, newest first`,
      about: 'Includes all attempts with their responses or errors.',
      answer: {
        about: 'deliveries with their attempts',
        schema: v.object({ deliveries: v.array(Delivery) }),
      },
    },
    'post /api/webhooks/{id}/deliveries/{delivery_id}/redeliver': {
      id: 'redeliver',
      summary: 'Redeliver an event',
      about: 'A redelivered test is still a test: it is not retried and never counts.',
      answer: {
        status: 202,
        about: 'the delivery is queued',
        schema: v.object({ redelivered: v.number() }),
      },
      refusals: { ...replayRefusals, 410: ['erased'] },
      sentences: { 410: erasedSentence },
    },
    'post /api/webhooks/{id}/replay': {
      id: 'replayWebhook',
      summary: 'Replay skipped and failed deliveries since a time',
      about: 'Deliveries keep their event id and body, so that subscribers can skip duplicates.',
      body: Replay,
      answer: {
        status: 202,
        about: 'the number of queued deliveries',
        schema: v.object({ replayed: v.number() }),
      },
      refusals: replayRefusals,
    },
  },
};
