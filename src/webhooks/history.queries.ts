import { one, type Sql } from '../lib/db/db.ts';
import { attemptsOf } from './attempts.cte.ts';
import { testEvent } from './rules.ts';

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
      select coalesce(json_agg(shown order by d.created_at desc, d.id desc), '[]')::text as deliveries
      from (
        select *
        from deliveries
        where org_id = ${orgId} and webhook_id = ${webhookId}
        order by created_at desc, id desc
        limit ${atMost}
      ) d
      cross join lateral (
        select coalesce(json_agg(json_build_object(
                 'number', number, 'status_code', status_code, 'response_body', response_body,
                 'error', error, 'duration_ms', duration_ms, 'at', iso(at)
               ) order by number), '[]') as attempts
        from (${attemptsOf(sql, orgId, sql`d.id`)}) attempt
      ) a
      cross join lateral (
        select d.id, d.webhook_id, d.event, d.status, a.attempts, d.status_code, d.response_body,
               iso(d.created_at) as created_at, iso(d.delivered_at) as delivered_at,
               iso(d.next_attempt_at) as next_attempt_at,
               ${traceId} as trace_id ${shownTraceUrl}
      ) shown`,
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
 * Makes new deliveries of the events of earlier ones. They are created at the time of the clock: this
 * transaction may have begun before the deliveries it copies, and a copy must be the later one.
 */
export async function copyDeliveries(
  sql: Sql,
  orgId: string,
  { webhookId, deliveryId, since, traceparent }: DeliveriesToCopy,
) {
  const which = deliveryId
    ? sql`d.id = ${deliveryId} and d.erased_at is null`
    : sql`d.status in ('skipped', 'failed') and d.erased_at is null and d.created_at >= ${since!}
          and d.event <> ${testEvent} and not exists (
            select from deliveries later
            where later.webhook_id = d.webhook_id and later.message_id = d.message_id
              and later.created_at > d.created_at
          )`;
  return one(
    await sql<{ count: number; traceparents: string[] }[]>`
      with original as (
        select org_id, message_id, webhook_id, event, body, traceparent, created_at, id
        from deliveries d
        where d.org_id = ${orgId} and d.webhook_id = ${webhookId} and ${which}
      ), copied as (
        insert into deliveries (org_id, message_id, webhook_id, event, body, next_attempt_at,
                                traceparent, is_replay, created_at)
        select org_id, message_id, webhook_id, event, body, now(), ${traceparent}, ${!deliveryId},
               clock_timestamp()
        from original
        order by created_at, id
        returning 1
      )
      select (select count(*)::int from copied) as count,
             array(select distinct traceparent from original
                   where traceparent is not null
                   limit ${originalsLinked}) as traceparents`,
  );
}

/**
 * Deletes old deliveries but for a webhook's newest, some at a time, and returns whether there may be
 * more. It begins at the old ones, so that it does not walk past the many newer ones of a busy webhook.
 */
export async function deleteOldDeliveries(
  sql: Sql,
  { keep, days, atMost }: { keep: number; days: number; atMost: number },
): Promise<boolean> {
  const gone = await sql`
    delete from deliveries d
    using (
      select o.org_id, o.id
      from webhooks w
      cross join lateral (
        select created_at, id
        from deliveries
        where webhook_id = w.id
        order by created_at desc, id desc
        offset ${keep - 1} limit 1
      ) kept
      cross join lateral (
        select org_id, id
        from deliveries
        where webhook_id = w.id and (created_at, id) < (kept.created_at, kept.id)
          and created_at < now() - make_interval(days => ${days}) and status <> 'pending'
        limit ${atMost}
      ) o
      limit ${atMost}
    ) old
    where d.org_id = old.org_id and d.id = old.id`;
  return gone.count === atMost;
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
    with delivery as (
      insert into deliveries (org_id, id, message_id, webhook_id, event, body, status, attempts,
                              status_code, response_body, duration_ms, delivered_at, traceparent)
      select org_id, ${test.id}::uuid, ${test.id}::uuid, id, ${test.event}, ${test.body},
             ${test.status}, 1, ${test.status_code}::smallint, ${test.response_body},
             case when ${test.status} = 'delivered' then ${test.duration_ms}::integer end,
             case when ${test.status} = 'delivered' then now() end, ${test.traceparent}
      from webhooks
      where org_id = ${orgId} and id = ${test.webhook_id}
      returning org_id, id
    )
    insert into delivery_attempts
      (org_id, delivery_id, number, status_code, response_body, error, duration_ms, at)
    select org_id, id, 1, ${test.status_code}::smallint, ${test.response_body}, ${test.error},
           ${test.duration_ms}, ${test.at}
    from delivery
    where ${test.status} <> 'delivered'`;
}
