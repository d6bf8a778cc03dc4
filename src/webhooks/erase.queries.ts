import type { Sql } from '../lib/db/db.ts';

export type ErasedEvents = { responseIds: readonly string[]; since: Date };

/**
 * Erases the bodies of events that carry an excerpt of a comment of these responses, and what subscribers answered to
 * them: they may have sent it back. What is still to be delivered is skipped. Events are not older than their
 * responses. Returns the number of their deliveries.
 */
export async function eraseBodiesOf(
  sql: Sql,
  orgId: string,
  { responseIds, since }: ErasedEvents,
): Promise<number> {
  const erased = await sql<{ id: string }[]>`
    update events e
    set body = '', erased_at = now()
    where org_id = ${orgId} and id >= least_id_at(${since}::timestamptz - interval '10 seconds')
      and type = 'detractor.detected' and erased_at is null and strpos(body, '"comment":null') = 0
      and exists (select from unnest(${[...responseIds]}::text[]) as of (id) where strpos(e.body, of.id) > 0)
    returning id`;
  if (erased.length === 0) return 0;
  const eventIds = erased.map(({ id }) => id);
  return await eraseDeliveriesOf(sql, orgId, { eventIds, since });
}

/**
 * A statement of its own: it sees what was made of the events until they were locked. Webhooks are locked first: a
 * deletion would wait for the deliveries, and they for it.
 */
async function eraseDeliveriesOf(
  sql: Sql,
  orgId: string,
  { eventIds, since }: { eventIds: string[]; since: Date },
): Promise<number> {
  const { count } = await sql`
    with webhook as materialized (
      select id from webhooks where org_id = ${orgId} for key share
    ), delivery as materialized (
      select d.webhook_id, d.id
      from webhook w
      join deliveries d on d.org_id = ${orgId} and d.webhook_id = w.id
      where d.event_id = any (${eventIds}::uuid[])
        and d.id >= least_id_at(${since}::timestamptz - interval '10 seconds')
    ), gone as (
      delete from pending_deliveries d
      using delivery
      where d.org_id = ${orgId} and d.webhook_id = delivery.webhook_id and d.id = delivery.id
      returning d.*
    ), skipped as (
      insert into ended_deliveries (org_id, webhook_id, id, event_id, message_id, undelivered, attempts, status_code,
                                    traceparent, is_test, is_replay)
      select org_id, webhook_id, id, event_id, message_id, 'skipped', attempts, status_code,
             traceparent, is_test, is_replay
      from gone
    ), ended as (
      update ended_deliveries d
      set response_body = null
      from delivery
      where d.org_id = ${orgId} and d.webhook_id = delivery.webhook_id and d.id = delivery.id
    ), attempts as (
      update delivery_attempts a
      set response_body = null, error = null
      from delivery
      where a.org_id = ${orgId} and a.webhook_id = delivery.webhook_id and a.delivery_id = delivery.id
    )
    select from delivery`;
  return count;
}

/** Whether a delivery is one whose body was erased. */
export async function wasErased(
  sql: Sql,
  orgId: string,
  { webhookId, deliveryId }: { webhookId: string; deliveryId: string },
): Promise<boolean> {
  const found = await sql`
    select from deliveries
    where org_id = ${orgId} and webhook_id = ${webhookId} and id = ${deliveryId} and erased_at is not null`;
  return found.length > 0;
}
