import type { Db, Part, Sql } from '../lib/db/db.ts';
import { deleteInBatches } from '../lib/db/delete-in-batches.ts';
import { noExcerpt, personalEventTypes, textAnswer } from './events.ts';

/** Number of deliveries kept per webhook, regardless of age. */
const keep = 50;
const days = 30;

export async function cleanUpDeliveries({ db }: { db: Db }) {
  await deleteInBatches((atMost) => deleteOldDeliveries(db, { keep, days, atMost }));
  const organizations = await db<{ id: string }[]>`
    select id
    from organizations o
    where exists (
      select from events
      where org_id = o.id and id < least_id_at(now() - make_interval(days => ${days}))
    )`;
  for (const { id } of organizations) {
    await deleteInBatches((atMost) => deleteOldEvents(db, id, { days, atMost }));
  }
}

/** Starts with the oldest deliveries, to avoid scanning the many newer deliveries of a busy webhook. */
export async function deleteOldDeliveries(
  sql: Sql,
  { keep, days, atMost }: { keep: number; days: number; atMost: number },
): Promise<number> {
  const { count } = await sql`
    -- all organizations
    with old as materialized (
      select o.webhook_id, o.id
      from webhooks w
      cross join lateral (
        select id
        from ended_deliveries
        where webhook_id = w.id
        order by id desc
        offset ${keep - 1} limit 1
      ) kept
      cross join lateral (
        select webhook_id, id
        from ended_deliveries
        where webhook_id = w.id and id < kept.id and id < least_id_at(now() - make_interval(days => ${days}))
        order by id
        limit ${atMost}
      ) o
      limit ${atMost}
    ), attempts as (
      delete from delivery_attempts a
      using old
      where a.webhook_id = old.webhook_id and a.delivery_id = old.id
    )
    delete from ended_deliveries d
    using old
    where d.webhook_id = old.webhook_id and d.id = old.id`;
  return count;
}

/** Deletes old events without deliveries. Few old deliveries are kept, so `kept` is small. */
export async function deleteOldEvents(
  sql: Sql,
  orgId: string,
  { days, atMost }: { days: number; atMost: number },
): Promise<number> {
  const { count } = await sql`
    -- all organizations
    with kept as materialized (
      select d.event_id
      from webhooks w
      join ended_deliveries d on d.webhook_id = w.id and d.id < least_id_at(now() - make_interval(days => ${days}))
      where w.org_id = ${orgId}
      union all
      select d.event_id
      from webhooks w
      join pending_deliveries d on d.webhook_id = w.id and d.id < least_id_at(now() - make_interval(days => ${days}))
      where w.org_id = ${orgId}
    )
    delete from events e
    using (
      select id
      from events
      where org_id = ${orgId} and id < least_id_at(now() - make_interval(days => ${days})) and used_at < now() - make_interval(days => ${days})
        and id not in (select event_id from kept)
      limit ${atMost}
    ) old
    where e.org_id = ${orgId} and e.id = old.id and e.used_at < now() - make_interval(days => ${days})`;
  return count;
}

/**
 * Erases the bodies of personal events about these responses, and subscribers' answers, which may repeat personal data.
 * Pending deliveries are skipped. Returns the number of deliveries.
 */
export async function eraseBodiesOf(
  sql: Sql,
  orgId: string,
  { responseIds, since }: { responseIds: readonly string[]; since: Date },
): Promise<number> {
  const which = sql`
    id >= least_id_at(${since}::timestamptz - interval '10 seconds') and ${isPersonal(sql)}
    and exists (select from unnest(${[...responseIds]}::text[]) as of (id) where strpos(e.body, of.id) > 0)`;
  return (await eraseBodies(sql, orgId, which)).deliveries;
}

/** Erases bodies of old events, which may contain texts that respondents have removed since. Returns the number of events. */
export async function eraseOldBodies(
  sql: Sql,
  orgId: string,
  { days, atMost }: { days: number; atMost: number },
): Promise<number> {
  const which = sql`
    id in (
      select id
      from events
      where org_id = ${orgId} and id < least_id_at(now() - make_interval(days => ${days}::int)) and ${isPersonal(sql)}
      order by id
      limit ${atMost}
    )`;
  return (await eraseBodies(sql, orgId, which)).events;
}

const isPersonal = (sql: Sql): Part => sql`
  type = any (${[...personalEventTypes]}) and erased_at is null and strpos(body, ${noExcerpt}) = 0
  and (type <> 'response.completed' or strpos(body, ${textAnswer}) > 0)`;

async function eraseBodies(sql: Sql, orgId: string, which: Part) {
  const erased = await sql<{ id: string }[]>`
    update events e
    set body = '', erased_at = now()
    where org_id = ${orgId} and ${which}
    returning id`;
  if (erased.length === 0) return { events: 0, deliveries: 0 };
  const eventIds = erased.map(({ id }) => id).sort();
  const least = eventIds[0]!;
  // A second statement sees the deliveries that were created until the events were locked. Locks webhooks first to
  // avoid a deadlock with their deletion.
  const { count } = await sql`
    with webhook as materialized (
      select id from webhooks where org_id = ${orgId} for key share
    ), delivery as materialized (
      select d.webhook_id, d.id
      from webhook w
      join deliveries d on d.org_id = ${orgId} and d.webhook_id = w.id
      where d.event_id = any (${eventIds}::uuid[])
        and d.id >= least_id_at(time_of(${least}::uuid) - interval '10 seconds')
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
  return { events: erased.length, deliveries: count };
}

export async function wasErased(
  sql: Sql,
  orgId: string,
  { webhookId, deliveryId }: { webhookId: string; deliveryId: string },
): Promise<boolean> {
  const rows = await sql`
    select from deliveries
    where org_id = ${orgId} and webhook_id = ${webhookId} and id = ${deliveryId} and erased_at is not null`;
  return rows.length > 0;
}
