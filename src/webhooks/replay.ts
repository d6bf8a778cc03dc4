import { type AuditedAct, recordAct, type Writer } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import {
  type Db,
  inTransaction,
  isLockTimeout,
  lockTimeout,
  one,
  type Part,
  type Sql,
} from '../lib/db/db.ts';
import { enqueueSpan } from '../lib/queue/task.ts';
import { inSpan } from '../lib/tracing/spans.ts';
import { lockStanding } from './record.ts';
import { wasErased } from './retention.ts';

type ReplayTools = { db: Db };
type Traced = { webhookId: string; traceparent?: string | null };
type Originals = { deliveryId: string } | { since: Date };
type Copy = Originals & { webhookId: string; traceparent: string | null };

export async function redeliver(
  tools: ReplayTools,
  writer: Writer,
  request: Traced & { deliveryId: string },
) {
  const redelivered = await deliverAgain(tools, writer, request);
  if (redelivered > 0) return { redelivered };
  if (!(await wasErased(tools.db, writer.orgId, request))) throw notFound('delivery');
  throw new Refusal('gone', erasedSentence, { code: 'erased' });
}

export const erasedSentence = 'the person in this delivery was erased';

export async function replay(
  tools: ReplayTools,
  writer: Writer,
  request: Traced & { since: Date },
) {
  return { replayed: await deliverAgain(tools, writer, request) };
}

/** The new deliveries get their own trace, linked to the original traces. */
async function deliverAgain({ db }: ReplayTools, writer: Writer, request: Traced & Originals) {
  return await inSpan(
    { traceparent: request.traceparent ?? null, agoMs: 0 },
    () => enqueueSpan('webhooks.deliver'),
    async ({ traceparent, link }) => {
      const copied = await inTransaction(db, (tx) => copy(tx, writer, { ...request, traceparent }));
      for (const original of copied.traceparents) link(original);
      return copied.count;
    },
  );
}

const maxLockMs = 1000;

/**
 * Locks the webhook, so that a second replay sees the deliveries of the first. Waits only as long as outcomes may hold
 * the lock, because waiting for another replay would hold a connection of the pool.
 */
async function copy(tx: Sql, writer: Writer, request: Copy) {
  const { orgId } = writer;
  const { webhookId, traceparent } = request;
  const webhook = { org_id: orgId, webhook_id: webhookId };
  await lockTimeout(tx, maxLockMs);
  const standing = await lockStanding(tx, webhook).catch((error: unknown) => {
    if (!isLockTimeout(error)) throw error;
    throw new Refusal('conflict', 'a replay of this webhook is running: try again in a moment', {
      code: 'replay_under_way',
      retryInSeconds: 1,
    });
  });
  await lockTimeout(tx, 0);
  if (!standing) throw notFound('webhook');
  if (!standing.active) {
    throw new Refusal('invalid', 'the webhook is turned off: turn it on first', {
      code: 'webhook_inactive',
    });
  }
  const copied = await copyDeliveries(tx, orgId, request);
  if (copied.count === 0) return copied;
  await enqueue(tx, [{ task: 'webhooks.deliver', payload: webhook, traceparent }]);
  const act: Omit<AuditedAct, 'orgId' | 'actor'> =
    'deliveryId' in request
      ? {
          act: 'delivery.redelivered',
          target: { kind: 'delivery', id: request.deliveryId },
          details: { webhook: webhookId },
        }
      : {
          act: 'webhook.replayed',
          target: { kind: 'webhook', id: webhookId },
          details: { since: request.since.toISOString(), deliveries: copied.count },
        };
  await recordAct(tx, { ...writer, ...act });
  return copied;
}

const maxLinks = 20;

/**
 * Copies deliveries and extends the retention of their events. Ids use the clock instead of the start of the
 * transaction, which may be earlier than the originals: a copy must sort after its original.
 */
async function copyDeliveries(sql: Sql, orgId: string, request: Copy) {
  const { webhookId, traceparent } = request;
  const originals =
    'deliveryId' in request
      ? sql`
        select * from deliveries
        where org_id = ${orgId} and webhook_id = ${webhookId} and id = ${request.deliveryId}`
      : missedDeliveries(sql, { orgId, webhookId, since: request.since });
  return one(
    await sql<{ count: number; traceparents: string[] }[]>`
      with original as materialized (
        ${originals}
      ), used as (
        update events e
        set used_at = now()
        from original d
        where e.org_id = ${orgId} and e.id = d.event_id and e.erased_at is null
        returning e.id
      ), copied as (
        insert into pending_deliveries (org_id, webhook_id, id, event_id, message_id, is_test, is_replay,
                                        traceparent)
        select ${orgId}, ${webhookId}, id_at(at), event_id, message_id, is_test, ${'since' in request},
               ${traceparent}
        from (
          select o.event_id, o.message_id, o.is_test, clock_timestamp() as at
          from original o
          join used on used.id = o.event_id
          order by o.id
          offset 0
        ) d
        returning 1
      )
      select (select count(*)::int from copied) as count,
             array(select distinct traceparent from original
                   where traceparent is not null
                   limit ${maxLinks}) as traceparents`,
  );
}

type MissedSince = { orgId: string; webhookId: string; since: Date };

export async function countReplayable(sql: Sql, missed: MissedSince): Promise<number> {
  return one(
    await sql<{ count: number }[]>`
      select count(*)::int as count from (${missedDeliveries(sql, missed)}) missed`,
  ).count;
}

/** Deliveries skipped or failed since a time and not redelivered later, except deliveries of erased events. */
const missedDeliveries = (sql: Sql, { orgId, webhookId, since }: MissedSince): Part => sql`
  -- organization: caller
  select d.id, d.event_id, coalesce(d.message_id, d.id) as message_id, d.is_test,
         coalesce(d.traceparent, e.traceparent) as traceparent
  from ended_deliveries d
  join events e on e.org_id = d.org_id and e.id = d.event_id and e.erased_at is null
  where d.org_id = ${orgId} and d.webhook_id = ${webhookId} and d.id >= least_id_at(${since})
    and d.undelivered is not null and not d.is_test
    and not exists (
      select from pending_deliveries later
      where later.webhook_id = d.webhook_id and later.message_id = coalesce(d.message_id, d.id) and later.id > d.id
    ) and not exists (
      select from ended_deliveries later
      where later.webhook_id = d.webhook_id and later.message_id = coalesce(d.message_id, d.id) and later.id > d.id
    )`;
