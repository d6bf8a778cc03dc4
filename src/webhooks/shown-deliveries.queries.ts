import { one, type Part, type Sql } from '../lib/db/db.ts';

type DeliveriesOf = { orgId: string; webhookId: string };

export type ListedDelivery = {
  id: string;
  event: string;
  status: 'pending' | 'delivered' | 'failed' | 'skipped';
  attempts: number;
  status_code: number | null;
  duration_ms: number | null;
  created_at: Date;
};

/** Counting further would take longer than the rest of the page. */
export const maxCounted = 10_000;

export async function pageOfDeliveries(
  sql: Sql,
  { orgId, webhookId }: DeliveriesOf,
  { page, limit, status }: { page: number; limit: number; status: string | null },
) {
  const rows = await sql<ListedDelivery[]>`
    select d.id, d.event, d.status, d.attempts, d.status_code, d.created_at,
           coalesce(d.duration_ms, last.duration_ms) as duration_ms
    from deliveries d
    left join lateral (
      select duration_ms
      from delivery_attempts
      where org_id = d.org_id and webhook_id = d.webhook_id and delivery_id = d.id
      order by number desc
      limit 1
    ) last on true
    where d.org_id = ${orgId} and d.webhook_id = ${webhookId}
      and d.id = any (array(
        select id
        from (${newestDeliveries(sql, { orgId, webhookId, status, atMost: page * limit })}) shown
        order by id desc
        offset ${(page - 1) * limit}
      ))
    order by d.id desc`;
  const { total } = one(
    await sql<{ total: number }[]>`
      select count(*)::int as total
      from (
        select from deliveries
        where org_id = ${orgId} and webhook_id = ${webhookId}
          and (${status}::text is null or status = ${status}::text)
        limit ${maxCounted + 1}
      ) counted`,
  );
  return { rows, total };
}

export type DayOfDeliveries = { day: string; delivered: number; failed: number; skipped: number };

/** Limits the rows that the chart reads for a busy webhook. */
const maxRowsByDay = 20_000;

/** Days are in UTC. Includes days without deliveries. */
export async function countByDay(sql: Sql, { orgId, webhookId }: DeliveriesOf, days: number) {
  return await sql<DayOfDeliveries[]>`
    with counted as (
      select (time_of(id) at time zone 'UTC')::date as day, undelivered, count(*)::int as count
      from (
        select id, undelivered
        from ended_deliveries
        where org_id = ${orgId} and webhook_id = ${webhookId}
          and id >= least_id_at((now() at time zone 'UTC')::date - ${days - 1}::int)
          and not is_test
        order by id desc
        limit ${maxRowsByDay}
      ) newest
      group by 1, 2
    )
    select to_char(d.day, 'YYYY-MM-DD') as day,
           coalesce(sum(count) filter (where undelivered is null), 0)::int as delivered,
           coalesce(sum(count) filter (where undelivered = 'failed'), 0)::int as failed,
           coalesce(sum(count) filter (where undelivered = 'skipped'), 0)::int as skipped
    from generate_series((now() at time zone 'UTC')::date - ${days - 1}::int,
                         (now() at time zone 'UTC')::date, interval '1 day') d (day)
    left join counted on counted.day = d.day::date
    group by d.day
    order by d.day`;
}

export type DeliveredShare = { webhook_id: string; delivered: number; total: number };

/** Limits the rows that the list reads of a busy webhook. */
const maxNewest = 1000;

/** For every webhook with events in these days. Counts the newest events of a busy webhook alone. */
export async function countDelivered(sql: Sql, orgId: string, days: number) {
  return await sql<DeliveredShare[]>`
    select w.id as webhook_id, count(*)::int as total,
           (count(*) filter (where undelivered is null))::int as delivered
    from webhooks w
    cross join lateral (
      select undelivered
      from ended_deliveries
      where org_id = w.org_id and webhook_id = w.id and not is_test
        and id >= least_id_at(now() - make_interval(days => ${days}))
      order by id desc
      limit ${maxNewest}
    ) newest
    where w.org_id = ${orgId}
    group by w.id`;
}

export type ShownDelivery = ListedDelivery & {
  message_id: string;
  body: string;
  response_body: string | null;
  delivered_at: Date | null;
  next_attempt_at: Date | null;
  trace_id: string | null;
};

export type ShownAttempt = {
  number: number;
  status_code: number | null;
  response_body: string | null;
  error: string | null;
  duration_ms: number;
  at: Date;
};

export async function findShownDelivery(sql: Sql, { orgId, webhookId }: DeliveriesOf, id: string) {
  const [delivery] = await sql<ShownDelivery[]>`
    select id, message_id, event, body, status, attempts, status_code, response_body,
           created_at, delivered_at, next_attempt_at, substring(traceparent from 4 for 32) as trace_id,
           null::int as duration_ms
    from deliveries
    where org_id = ${orgId} and webhook_id = ${webhookId} and id = ${id}`;
  return delivery;
}

export async function listAttempts(
  sql: Sql,
  { orgId, webhookId }: DeliveriesOf,
  deliveryId: string,
): Promise<ShownAttempt[]> {
  return await sql<ShownAttempt[]>`
    ${attemptsOf(sql, { orgId, webhookId, deliveryId: sql`${deliveryId}::uuid` })}
    order by number`;
}

type HistoryOptions = { atMost: number; traceUrl: string | null };

export async function listDeliveries(
  sql: Sql,
  { orgId, webhookId }: DeliveriesOf,
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

type NewestOf = DeliveriesOf & { atMost: number; status: string | null };

/** One branch per index. */
const newestDeliveries = (sql: Sql, { orgId, webhookId, atMost, status }: NewestOf): Part => sql`
  select id
  from (
    (select id
     from pending_deliveries
     where org_id = ${orgId} and webhook_id = ${webhookId} and attempts = 0
       and coalesce(${status}::text, 'pending') = 'pending'
     order by id desc
     limit ${atMost})
    union all
    (select id
     from pending_deliveries
     where org_id = ${orgId} and webhook_id = ${webhookId} and attempts > 0
       and coalesce(${status}::text, 'pending') = 'pending'
     order by id desc
     limit ${atMost})
    union all
    (select id
     from ended_deliveries
     where org_id = ${orgId} and webhook_id = ${webhookId}
       and (${status}::text is null or coalesce(undelivered, 'delivered') = ${status}::text)
     order by id desc
     limit ${atMost})
  ) newest
  order by id desc
  limit ${atMost}`;

type AttemptsOf = { orgId: string; webhookId: string; deliveryId: Part };

/** Each failed attempt has its own row. The attempt that delivered is part of the delivery. */
const attemptsOf = (sql: Sql, { orgId, webhookId, deliveryId }: AttemptsOf): Part => sql`
  select number, status_code, response_body, error, duration_ms, at
  from delivery_attempts
  where org_id = ${orgId} and webhook_id = ${webhookId} and delivery_id = ${deliveryId}
  union all
  select attempts, status_code, response_body, null, duration_ms, delivered_at
  from ended_deliveries
  where org_id = ${orgId} and webhook_id = ${webhookId} and id = ${deliveryId} and duration_ms is not null`;
