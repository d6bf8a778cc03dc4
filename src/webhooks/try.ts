import { randomUUID } from 'node:crypto';
import { notFound } from '../errors.ts';
import { attempted } from '../happenings.ts';
import type { WriteKey } from '../keys/authenticate.ts';
import type { Db } from '../platform/db.ts';
import type { DeliverTools } from './deliver.ts';
import { insertTried } from './delivery.queries.ts';
import { deliveryHeaders } from './headers.ts';
import { findTarget } from './queries.ts';
import { answerTimeoutMs, judge } from './rules.ts';

const event = 'webhook.test';

/** Sends a test event and says what came of it. It changes nothing about the webhook's standing. */
export async function tryWebhook(tools: DeliverTools & { db: Db }, key: WriteKey, id: string) {
  const target = await findTarget(tools.db, key.org_id, id);
  if (!target) throw notFound('webhook');

  const deliveryId = randomUUID();
  const at = new Date();
  const body = JSON.stringify({ version: '1', type: event, webhookId: id, timestamp: at });
  const headers = deliveryHeaders(tools.settings.serviceName, {
    id: deliveryId,
    messageId: deliveryId,
    event,
    body,
    at,
    secret: tools.secrets.open({ orgId: key.org_id, id }, target.secret),
    previousSecret: null,
  });
  const answer = await tools.outbound.post(target.url, {
    headers,
    body,
    deadlineMs: answerTimeoutMs,
  });

  const { statusCode: status_code, error, durationMs: duration_ms } = answer;
  const delivered = judge({ number: 1, statusCode: status_code, error }).status === 'delivered';
  const response_body = status_code === null ? null : answer.body;
  const outcome = { status_code, response_body, duration_ms, error };
  const status = delivered ? ('delivered' as const) : ('failed' as const);
  await insertTried(tools.db, key.org_id, {
    ...{ id: deliveryId, webhook_id: id, event, body, status, at },
    ...outcome,
  });
  attempted.tell({
    ...{ orgId: key.org_id, webhookId: id, deliveryId, event, attempt: 1 },
    outcome: status,
    statusCode: status_code,
    error: answer.errorKind,
    ms: duration_ms,
    sinceMs: Date.now() - at.getTime(),
    traceparent: null,
  });
  return { delivered, ...outcome, delivery_id: deliveryId };
}
