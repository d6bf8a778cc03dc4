import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { Moment } from '../lib/cli/command.ts';
import type { Db } from '../lib/db/db.ts';
import { parseBody } from '../lib/http/body.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import { readIfMatch } from '../lib/http/version.ts';
import type { ApiSection, Operation } from '../lib/openapi/openapi.ts';
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
import { redeliver, replay } from './replay.ts';
import { retryKinds } from './rules.ts';
import { listDeliveries } from './screen.queries.ts';

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
    .all('/events', (c) => c.notFound()) // never `/:id`: the answer names the methods it has

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

/** The list of the API has no further pages. */
const deliveriesShown = 50;

const path = '/api/webhooks';
const types = eventTypes.map(({ type }) => type);
const Events = v.object({
  events: v.array(v.object({ type: v.picklist(types), description: v.string() })),
});
const whenCopying = { 400: ['webhook_inactive'], 409: ['replay_under_way'] } as const;

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
  secret: v.pipe(v.string(), v.description('Shown in this answer and nowhere else.')),
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
      v.description('Where the trace can be seen, if the operator has said where that is.'),
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

const operations: Operation[] = [
  {
    id: 'listWebhooks',
    method: 'get',
    path,
    summary: 'List webhooks',
    about: 'All webhooks of the organization, without pages and without their secrets.',
    permission: 'read',
    answer: { status: 200, about: 'all of them', schema: v.object({ webhooks: v.array(Webhook) }) },
  },
  {
    id: 'createWebhook',
    method: 'post',
    path,
    summary: 'Create a webhook',
    about:
      'The URL must be https and lead to a public address. Keep the `secret` of the answer: it signs every ' +
      'delivery and is not shown again. With `retries` `extended` a failed delivery is tried again for about 28 ' +
      'hours, and a receiver may be away for three days.',
    permission: 'write',
    body: NewWebhook,
    answer: {
      status: 201,
      about: 'the webhook, with the secret that its deliveries are signed with',
      schema: WebhookWithSecret,
    },
    refusals: { 400: ['forbidden_url', 'too_many_webhooks'] },
  },
  {
    id: 'listWebhookEvents',
    method: 'get',
    path: `${path}/events`,
    summary: 'List the events to subscribe to',
    about: 'Every type that `events` of a webhook may name.',
    permission: 'read',
    answer: { status: 200, about: 'the four events', schema: Events },
  },
  {
    id: 'getWebhook',
    method: 'get',
    path: `${path}/{id}`,
    summary: 'Get a webhook',
    about:
      'Its state: whether it is active, how often it failed in a row, and why it was deactivated.',
    permission: 'read',
    answer: { status: 200, about: 'the webhook', schema: Webhook },
  },
  {
    id: 'changeWebhook',
    method: 'put',
    path: `${path}/{id}`,
    summary: 'Change a webhook, or switch it on again',
    about: '`{"active": true}` switches a deactivated webhook on and sets its failure_count to 0.',
    permission: 'write',
    ifMatch: true,
    body: WebhookChange,
    bodyOptional: true,
    answer: { status: 200, about: 'the webhook as it is now', schema: Webhook },
    refusals: { 400: ['forbidden_url'] },
  },
  {
    id: 'deleteWebhook',
    method: 'delete',
    path: `${path}/{id}`,
    summary: 'Delete a webhook',
    about: 'Nothing more is sent to it, and its deliveries are deleted.',
    permission: 'write',
    answer: { status: 204, about: 'it is gone' },
  },
  {
    id: 'rotateWebhookSecret',
    method: 'post',
    path: `${path}/{id}/rotate-secret`,
    summary: 'Give a webhook a new secret',
    about: 'The old one signs too for 24 hours, in `webhook-signature`.',
    permission: 'write',
    answer: { status: 200, about: 'the webhook, with its new secret', schema: WebhookWithSecret },
  },
  {
    id: 'testWebhook',
    method: 'post',
    path: `${path}/{id}/test`,
    summary: 'Send a test event and see what comes of it',
    about: 'Works on an inactive webhook, is not retried, and never counts as a failure.',
    permission: 'write',
    answer: { status: 200, about: 'what the subscriber answered', schema: TestResult },
  },
  {
    id: 'listDeliveries',
    method: 'get',
    path: `${path}/{id}/deliveries`,
    summary: `List the last ${deliveriesShown} deliveries, newest first`,
    about: 'Each with all its attempts: what was answered, or why nothing was.',
    permission: 'read',
    answer: {
      status: 200,
      about: 'each with its attempts',
      schema: v.object({ deliveries: v.array(Delivery) }),
    },
  },
  {
    id: 'redeliver',
    method: 'post',
    path: `${path}/{id}/deliveries/{delivery_id}/redeliver`,
    summary: 'Deliver one event again',
    about: 'A test that is delivered again stays one: it is not retried and changes no count.',
    permission: 'write',
    answer: { status: 202, about: 'on its way', schema: v.object({ redelivered: v.number() }) },
    refusals: { ...whenCopying, 410: ['erased'] },
    sentences: { 410: 'the person whose words this delivery carried was erased' },
  },
  {
    id: 'replayWebhook',
    method: 'post',
    path: `${path}/{id}/replay`,
    summary: 'Deliver again what was skipped or failed since a time',
    about: 'Deliveries keep their event id and bytes, so a subscriber can drop those it has seen.',
    permission: 'write',
    body: Replay,
    answer: {
      status: 202,
      about: 'how many are on their way',
      schema: v.object({ replayed: v.number() }),
    },
    refusals: whenCopying,
  },
];

export const webhookSection: ApiSection = {
  name: 'Webhooks',
  about: 'Subscriptions to events, and the outcomes of their deliveries.',
  schemas: { Webhook, WebhookWithSecret, Delivery, WebhookTested: TestResult },
  bodies: { NewWebhook, WebhookChange, Replay },
  operations,
};
