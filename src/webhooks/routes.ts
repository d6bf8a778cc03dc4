import { type Context, Hono } from 'hono';
import { notFound } from '../errors.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import type { Db } from '../lib/db/db.ts';
import { parseBody } from '../lib/http/body.ts';
import { isUuid } from '../lib/validation/parse.ts';
import type { DeliverTools } from './deliver.ts';
import { eventTypes } from './events.ts';
import { listDeliveries } from './history.queries.ts';
import {
  changeWebhook,
  createWebhook,
  getWebhook,
  type ManageTools,
  removeWebhook,
  renewSecret,
} from './manage.ts';
import { deliveriesShown } from './operations.ts';
import { listWebhooks } from './queries.ts';
import { redeliver, replay } from './replay.ts';
import { NewWebhook, Replay, WebhookChange } from './schemas.ts';
import { testWebhook } from './test-event.ts';

export type WebhookTools = ManageTools &
  DeliverTools & { db: Db; settings: { traceUrl: string | null } };

/** The management endpoints answer with the record itself, and lists under their own name. */
export const webhookRoutes = (tools: WebhookTools) =>
  new Hono<ApiEnv>()
    .get('/', async (c) => c.json({ webhooks: await listWebhooks(tools.db, c.var.key.org_id) }))

    .post('/', async (c) => {
      const key = requireWrite(c.var.key);
      return c.json(await createWebhook(tools, key, await parseBody(c, NewWebhook)), 201);
    })

    .get('/events', (c) => c.json({ events: eventTypes }))
    .all('/events', (c) => c.notFound()) // never `/:id`: the answer names the methods it has

    .get('/:id', async (c) =>
      c.json(await getWebhook(tools, c.var.key.org_id, id(c.req.param('id'), 'webhook'))),
    )

    .put('/:id', async (c) => {
      const key = requireWrite(c.var.key);
      const webhookId = id(c.req.param('id'), 'webhook');
      const change = await parseBody(c, WebhookChange, { optional: true });
      return c.json(await changeWebhook(tools, key, { ...change, id: webhookId }));
    })

    .delete('/:id', async (c) => {
      const key = requireWrite(c.var.key);
      await removeWebhook(tools, key, id(c.req.param('id'), 'webhook'));
      return c.body(null, 204);
    })

    .post('/:id/rotate-secret', async (c) =>
      c.json(await renewSecret(tools, requireWrite(c.var.key), id(c.req.param('id'), 'webhook'))),
    )

    .post('/:id/test', async (c) => {
      const key = requireWrite(c.var.key);
      const which = { id: id(c.req.param('id'), 'webhook'), traceparent: traceparent(c) };
      return c.json(await testWebhook(tools, key, which));
    })

    .get('/:id/deliveries', async (c) => {
      const { org_id } = c.var.key;
      const webhook = await getWebhook(tools, org_id, id(c.req.param('id'), 'webhook'));
      const deliveries = await listDeliveries(
        tools.db,
        { orgId: org_id, webhookId: webhook.id },
        { atMost: deliveriesShown, traceUrl: tools.settings.traceUrl },
      );
      return c.body(`{"deliveries":${deliveries}}`, 200, { 'Content-Type': 'application/json' });
    })

    .post('/:id/deliveries/:delivery_id/redeliver', async (c) => {
      const key = requireWrite(c.var.key);
      const webhookId = id(c.req.param('id'), 'webhook');
      const deliveryId = id(c.req.param('delivery_id'), 'delivery');
      const which = { webhookId, deliveryId, traceparent: traceparent(c) };
      return c.json(await redeliver(tools, key, which), 202);
    })

    .post('/:id/replay', async (c) => {
      const key = requireWrite(c.var.key);
      const webhookId = id(c.req.param('id'), 'webhook');
      const { since } = await parseBody(c, Replay);
      const which = { webhookId, since, traceparent: traceparent(c) };
      return c.json(await replay(tools, key, which), 202);
    });

const traceparent = (c: Context<ApiEnv>) => c.get('traceparent') ?? null;

/** An id that is not a UUID is not found, like one of another organization. */
function id(text: string, what: string): string {
  if (!isUuid(text)) throw notFound(what);
  return text;
}
