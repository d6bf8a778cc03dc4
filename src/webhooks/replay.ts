import { notFound, Refusal } from '../errors.ts';
import type { WriteKey } from '../keys/authenticate.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { enqueue } from '../lib/queue/outbox.ts';
import { enqueueSpan } from '../lib/tracing/conventions.ts';
import { inSpan } from '../lib/tracing/spans.ts';
import { lockStanding } from './delivery.queries.ts';
import { copyDeliveries } from './history.queries.ts';

type ReplayTools = { db: Db; pump: () => void };
type Which = {
  webhookId: string;
  deliveryId?: string;
  since?: Date;
  /** The span of the request that asks for it. */
  traceparent?: string | null;
};

/** Tells one event again: a new delivery with the webhook-id of the first. */
export async function redeliver(tools: ReplayTools, key: WriteKey, which: Which) {
  const count = await again(tools, key.org_id, which);
  if (count === 0) throw notFound('delivery');
  return { redelivered: count };
}

/** Tells again what a webhook has missed since a time: events that were skipped or failed. */
export const replay = (tools: ReplayTools, key: WriteKey, which: Which) =>
  replayMissed(tools, key.org_id, which);

/** The same for the operator, who needs no key. */
export async function replayMissed(tools: ReplayTools, orgId: string, which: Which) {
  return { replayed: await again(tools, orgId, which) };
}

/** In a trace of their own, linked to those of the first deliveries. */
async function again({ db, pump }: ReplayTools, orgId: string, which: Which): Promise<number> {
  const count = await inSpan(
    { traceparent: which.traceparent ?? null, agoMs: 0 },
    () => enqueueSpan('webhooks.deliver'),
    async ({ traceparent, link }) => {
      const copied = await copy(db, orgId, { ...which, traceparent });
      for (const original of copied.traceparents) link(original);
      return copied.count;
    },
  );
  pump();
  return count;
}

/** Under the webhook's lock: of two replays at once, the second finds what the first has made. */
async function copy(db: Db, orgId: string, which: Which & { traceparent: string | null }) {
  const lane = { org_id: orgId, webhook_id: which.webhookId };
  return await inTransaction(db, async (tx) => {
    const webhook = await lockStanding(tx, lane);
    if (!webhook) throw notFound('webhook');
    if (!webhook.active) {
      throw new Refusal('invalid', 'the webhook is switched off: switch it on first', {
        code: 'webhook_inactive',
      });
    }
    const copied = await copyDeliveries(tx, orgId, which);
    const { traceparent } = which;
    if (copied.count > 0) {
      await enqueue(tx, [{ task: 'webhooks.deliver', payload: lane, traceparent }]);
    }
    return copied;
  });
}
