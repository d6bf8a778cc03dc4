import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { enqueueSpan } from '../lib/queue/task.ts';
import { inSpan } from '../lib/tracing/spans.ts';
import { wasErased } from './erase.queries.ts';
import { copyDeliveries, tryLockReplay } from './history.queries.ts';
import { lockStanding } from './outcome.queries.ts';

type ReplayTools = { db: Db };
type ReplayRequest = {
  webhookId: string;
  deliveryId?: string;
  since?: Date;
  /** The span of the request that asks for it. */
  traceparent?: string | null;
};

/** Delivers one event again: a new delivery with the webhook-id of the first. */
export async function redeliver(
  tools: ReplayTools,
  writer: Writer,
  request: ReplayRequest & { deliveryId: string },
) {
  const count = await deliverAgain(tools, writer, request);
  if (count === 0) {
    throw (await wasErased(tools.db, writer.orgId, request)) ? erased() : notFound('delivery');
  }
  return { redelivered: count };
}

/** Delivers again what a webhook has missed since a time: events that were skipped or failed. */
export async function replay(tools: ReplayTools, writer: Writer, request: ReplayRequest) {
  return { replayed: await deliverAgain(tools, writer, request) };
}

/** The new deliveries have a trace of their own, with links to those of the first ones. */
async function deliverAgain(
  { db }: ReplayTools,
  writer: Writer,
  request: ReplayRequest,
): Promise<number> {
  const count = await inSpan(
    { traceparent: request.traceparent ?? null, agoMs: 0 },
    () => enqueueSpan('webhooks.deliver'),
    async ({ traceparent, link }) => {
      const copied = await copy(db, writer, { ...request, traceparent });
      for (const original of copied.traceparents) link(original);
      return copied.count;
    },
  );
  return count;
}

type TracedRequest = ReplayRequest & { traceparent: string | null };

/** Under the webhook's lock: the second of two replays finds what the first has made. */
async function copy(db: Db, writer: Writer, request: TracedRequest) {
  const { orgId } = writer;
  const webhook = { org_id: orgId, webhook_id: request.webhookId };
  return await inTransaction(db, async (tx) => {
    if (!(await tryLockReplay(tx, { orgId, webhookId: request.webhookId }))) throw replaying();
    const standing = await lockStanding(tx, webhook);
    if (!standing) throw notFound('webhook');
    if (!standing.active) {
      throw new Refusal('invalid', 'the webhook is switched off: switch it on first', {
        code: 'webhook_inactive',
      });
    }
    const copied = await copyDeliveries(tx, orgId, request);
    const { traceparent } = request;
    if (copied.count > 0) {
      await enqueue(tx, [{ task: 'webhooks.deliver', payload: webhook, traceparent }]);
      await recordAgain(tx, writer, { ...request, count: copied.count });
    }
    return copied;
  });
}

function recordAgain(tx: Sql, writer: Writer, request: ReplayRequest & { count: number }) {
  const { webhookId, deliveryId, since, count } = request;
  if (deliveryId) {
    const target = { kind: 'delivery', id: deliveryId };
    const details = { webhook: webhookId };
    return recordAct(tx, { ...writer, act: 'delivery.redelivered', target, details });
  }
  const details = { since: since?.toISOString() ?? null, deliveries: count };
  const target = { kind: 'webhook', id: webhookId };
  return recordAct(tx, { ...writer, act: 'webhook.replayed', target, details });
}

const replaying = () =>
  new Refusal('conflict', 'a replay of this webhook is under way: try again in a moment', {
    code: 'replay_under_way',
    retryInSeconds: 1,
  });

const erased = () =>
  new Refusal('gone', 'the person whose words this delivery carried was erased', {
    code: 'erased',
  });
