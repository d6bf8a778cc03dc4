import { randomUUIDv7 } from 'node:crypto';
import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { notFound } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { attempted } from '../signals.ts';
import { attempt, type DeliverTools, toSignal } from './deliver.ts';
import { insertTestDelivery } from './history.queries.ts';
import { findTarget } from './queries.ts';
import { testEvent as event } from './rules.ts';

type TestRequest = { id: string; traceparent: string | null };

type TestTools = DeliverTools & { db: Db };

/** Sends a test event and returns its outcome. It changes nothing about the webhook's failures. */
export async function testWebhook(
  tools: TestTools,
  writer: Writer,
  { id, traceparent }: TestRequest,
) {
  const { orgId } = writer;
  const target = await findTarget(tools.db, orgId, id);
  if (!target) throw notFound('webhook');

  const deliveryId = randomUUIDv7();
  const created_at = new Date();
  const body = JSON.stringify({ version: '1', type: event, webhookId: id, timestamp: created_at });
  const outcome = await attempt(tools, {
    id: deliveryId,
    message_id: deliveryId,
    org_id: orgId,
    webhook_id: id,
    event,
    body,
    attempts: 0,
    traceparent,
    created_at,
    ...target,
  });

  const { answer, at } = outcome;
  const delivered = outcome.verdict.status === 'delivered';
  const result = {
    status_code: answer.statusCode,
    response_body: answer.statusCode === null ? null : answer.body,
    duration_ms: answer.durationMs,
    error: answer.error,
  };
  const status = delivered ? ('delivered' as const) : ('failed' as const);
  await inTransaction(tools.db, async (tx) => {
    await insertTestDelivery(tx, orgId, {
      id: deliveryId,
      webhook_id: id,
      event,
      body,
      status,
      at,
      traceparent: outcome.traceparent,
      ...result,
    });
    const target = { kind: 'webhook', id };
    await recordAct(tx, { ...writer, act: 'webhook.tested', target, details: { status } });
  });
  attempted.publish(toSignal(outcome));
  return { delivered, ...result, delivery_id: deliveryId };
}
