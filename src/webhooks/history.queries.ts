import { one, type Sql } from '../lib/db/db.ts';
import { testEvent } from './rules.ts';

/** A replay of many is not told all their traces. */
const originalsLinked = 20;

type Where = { orgId: string; webhookId: string };
type Listed = { atMost: number; traceUrl: string | null };

/** Deliveries with their attempts, newest first, as the JSON they are answered as. */
export async function listDeliveries(
  sql: Sql,
  { orgId, webhookId }: Where,
  { atMost, traceUrl }: Listed,
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
                 'error', error, 'duration_ms', duration_ms, 'at', ${iso(sql, 'at')}
               ) order by number), '[]') as attempts
        from delivery_attempts
        where org_id = ${orgId} and delivery_id = d.id
      ) a
      cross join lateral (
        select d.id, d.webhook_id, d.event, d.status, a.attempts, d.status_code, d.response_body,
               ${iso(sql, 'd.created_at')} as created_at, ${iso(sql, 'd.delivered_at')} as delivered_at,
               ${iso(sql, 'd.next_attempt_at')} as next_attempt_at,
               ${traceId} as trace_id ${shownTraceUrl}
      ) shown`,
  ).deliveries;
}

const iso = (sql: Sql, column: string) =>
  sql`to_char(${sql(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

type Wanted = {
  webhookId: string;
  deliveryId?: string;
  since?: Date;
  traceparent: string | null;
};

/**
 * New deliveries of events that the webhook was told before, or should have been. Their time is the
 * clock's: this transaction may have begun before what it copies, and a copy must be the later one.
 */
export async function copyDeliveries(
  sql: Sql,
  orgId: string,
  { webhookId, deliveryId, since, traceparent }: Wanted,
) {
  const which = deliveryId
    ? sql`d.id = ${deliveryId}`
    : sql`d.status in ('skipped', 'failed') and d.created_at >= ${since!}
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
                                traceparent, created_at)
        select org_id, message_id, webhook_id, event, body, now(), ${traceparent}, clock_timestamp()
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
 * Forgets old deliveries beyond a webhook's newest, some at a time; says whether there may be more. It
 * begins at the old ones: the many newer ones of a busy webhook are not walked past each time.
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
