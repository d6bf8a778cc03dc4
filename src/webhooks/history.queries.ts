import { one, type Sql } from '../lib/db/db.ts';
import { attemptsOf } from './attempts.cte.ts';
import { missedDeliveries } from './missed.cte.ts';
import { newestDeliveries } from './newest.cte.ts';

/** Traces that the span of a replay links to, at most. */
const originalsLinked = 20;

type HistoryOf = { orgId: string; webhookId: string };
type HistoryOptions = { atMost: number; traceUrl: string | null };

/** Deliveries with their attempts, newest first, as the JSON they are answered as. */
export async function listDeliveries(
  sql: Sql,
  { orgId, webhookId }: HistoryOf,
  { atMost, traceUrl }: HistoryOptions,
) {
  const traceId = sql`substring(d.traceparent from 4 for 32)`;
  const shownTraceUrl = traceUrl
    ? sql`, replace(${traceUrl}, '{trace_id}', ${traceId}) as trace_url`
    : sql``;
  return one(
    await sql<{ deliveries: string }[]>`
      select coalesce(json_agg(shown order by d.id desc), '[]')::text as deliveries
      from deliveries d
      cross join lateral (
        select coalesce(json_agg(json_build_object(
                 'number', number, 'status_code', status_code, 'response_body', response_body,
                 'error', error, 'duration_ms', duration_ms, 'at', iso(at)
               ) order by number), '[]') as attempts
        from (${attemptsOf(sql, { orgId, webhookId, deliveryId: sql`d.id` })}) attempt
      ) a
      cross join lateral (
        select d.id, d.webhook_id, d.event, d.status, a.attempts, d.status_code, d.response_body,
               iso(d.created_at) as created_at, iso(d.delivered_at) as delivered_at,
               iso(d.next_attempt_at) as next_attempt_at,
               ${traceId} as trace_id ${shownTraceUrl}
      ) shown
      where d.org_id = ${orgId} and d.webhook_id = ${webhookId}
        and d.id = any (array(${newestDeliveries(sql, { orgId, webhookId, atMost, status: null })}))`,
  ).deliveries;
}

type DeliveriesToCopy = {
  webhookId: string;
  deliveryId?: string;
  since?: Date;
  traceparent: string | null;
};

/**
 * Lets one replay of a webhook run at a time, until the transaction ends; false while another one runs.
 * The others do not wait: each would hold a connection of the pool.
 */
export async function tryLockReplay(sql: Sql, { orgId, webhookId }: HistoryOf): Promise<boolean> {
  const name = `replay ${orgId} ${webhookId}`;
  return one(
    await sql<{ locked: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as locked`,
  ).locked;
}

/**
 * Makes new deliveries of the events of earlier ones, and has these events kept as long as the new
 * deliveries. They are created at the time of the clock: this transaction may have begun before the
 * deliveries it copies, and a copy must be the later one.
 */
export async function copyDeliveries(
  sql: Sql,
  orgId: string,
  { webhookId, deliveryId, since, traceparent }: DeliveriesToCopy,
) {
  const which = deliveryId
    ? sql`
        select * from deliveries
        where org_id = ${orgId} and webhook_id = ${webhookId} and id = ${deliveryId}`
    : missedDeliveries(sql, { orgId, webhookId, since: since! });
  return one(
    await sql<{ count: number; traceparents: string[] }[]>`
      with original as materialized (
        ${which}
      ), used as (
        update events e
        set used_at = now()
        from original d
        where e.org_id = ${orgId} and e.id = d.event_id and e.erased_at is null
        returning e.id
      ), copied as (
        insert into pending_deliveries (org_id, webhook_id, id, event_id, message_id, is_test, is_replay,
                                        traceparent)
        select ${orgId}, ${webhookId}, id_at(at), event_id, message_id, is_test, ${!deliveryId},
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
                   limit ${originalsLinked}) as traceparents`,
  );
}

export type TestDelivery = {
  id: string;
  webhook_id: string;
  event: string;
  body: string;
  status: 'delivered' | 'failed';
  status_code: number | null;
  response_body: string | null;
  error: string | null;
  duration_ms: number;
  at: Date;
  traceparent: string | null;
};

/** Adds a test event to the history, when its one attempt has ended. */
export async function insertTestDelivery(sql: Sql, orgId: string, test: TestDelivery) {
  await sql`
    with webhook as materialized (
      select org_id, id
      from webhooks
      where org_id = ${orgId} and id = ${test.webhook_id}
      for key share
    ), event as (
      insert into events (org_id, id, type, body, traceparent)
      select org_id, ${test.id}::uuid, ${test.event}, ${test.body}, ${test.traceparent}
      from webhook
    ), delivery as (
      insert into ended_deliveries (org_id, webhook_id, id, event_id, is_test, undelivered, attempts, status_code,
                                    response_body, duration_ms, delivered_at)
      select org_id, id, ${test.id}::uuid, ${test.id}::uuid, true, nullif(${test.status}, 'delivered'), 1,
             ${test.status_code}::smallint, ${test.response_body},
             case when ${test.status} = 'delivered' then ${test.duration_ms}::integer end,
             case when ${test.status} = 'delivered' then now() end
      from webhook
      returning org_id, webhook_id, id
    )
    insert into delivery_attempts
      (org_id, webhook_id, delivery_id, number, status_code, response_body, error, duration_ms, at)
    select org_id, webhook_id, id, 1, ${test.status_code}::smallint, ${test.response_body}, ${test.error},
           ${test.duration_ms}, ${test.at}
    from delivery
    where ${test.status} <> 'delivered'`;
}
