import { randomUUID } from 'node:crypto';
import { notFound } from '../errors.ts';
import type { WriteKey } from '../keys/authenticate.ts';
import type { Db } from '../lib/db/db.ts';
import { attempted } from '../signals.ts';
import { attempt, type DeliverTools } from './deliver.ts';
import { findTarget } from './queries.ts';
import { testEvent as event, judge } from './rules.ts';
import { insertTried } from './test-event.queries.ts';

type Which = { id: string; traceparent: string | null };

/** Sends a test event and says what came of it. It changes nothing about the webhook's standing. */
export async function tryWebhook(tools: DeliverTools & { db: Db }, key: WriteKey, which: Which) {
  const { id } = which;
  const target = await findTarget(tools.db, key.org_id, id);
  if (!target) throw notFound('webhook');

  const deliveryId = randomUUID();
  const now = new Date();
  const body = JSON.stringify({ version: '1', type: event, webhookId: id, timestamp: now });
  const { answer, at, traceparent } = await attempt(tools, {
    ...{ id: deliveryId, message_id: deliveryId, org_id: key.org_id, webhook_id: id, event, body },
    ...{ attempts: 0, traceparent: which.traceparent, created_at: now },
    ...{ ...target, previous_secret: null },
  });

  const { statusCode: status_code, error, durationMs: duration_ms } = answer;
  const delivered =
    judge({ event, number: 1, statusCode: status_code, error }).status === 'delivered';
  const response_body = status_code === null ? null : answer.body;
  const outcome = { status_code, response_body, duration_ms, error };
  const status = delivered ? ('delivered' as const) : ('failed' as const);
  await insertTried(tools.db, key.org_id, {
    ...{ id: deliveryId, webhook_id: id, event, body, status, at, traceparent },
    ...outcome,
  });
  attempted.publish({
    ...{ orgId: key.org_id, webhookId: id, deliveryId, event, attempt: 1 },
    outcome: status,
    statusCode: status_code,
    error: answer.errorKind,
    ms: duration_ms,
    sinceMs: Date.now() - at.getTime(),
    traceparent,
  });
  return { delivered, ...outcome, delivery_id: deliveryId };
}
