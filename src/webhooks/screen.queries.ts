import { one, type Sql } from '../lib/db/db.ts';
import { missedDeliveries } from './emit.ts';
import { newestDeliveries } from './queries.ts';
import { attemptsOf } from './worker.ts';

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

/** Counting further would cost more than the rest of the page. */
export const mostCounted = 10_000;

/** A page of deliveries, newest first, and how many there are up to `mostCounted`. */
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
        limit ${mostCounted + 1}
      ) counted`,
  );
  return { rows, total };
}

export type DayOfDeliveries = { day: string; delivered: number; failed: number; skipped: number };

/** The newest of these are looked at: a webhook with more has had no quiet day among the last. */
const newestLookedAt = 20_000;

/** How deliveries ended on each of the last days, UTC, with days without any. */
export async function countByDay(
  sql: Sql,
  { orgId, webhookId }: DeliveriesOf,
  days: number,
): Promise<DayOfDeliveries[]> {
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
        limit ${newestLookedAt}
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

/** What a replay from then on would deliver again. */
export async function countReplayable(
  sql: Sql,
  { orgId, webhookId }: DeliveriesOf,
  since: Date,
): Promise<number> {
  return one(
    await sql<{ count: number }[]>`
      select count(*)::int as count
      from (${missedDeliveries(sql, { orgId, webhookId, since })}) missed`,
  ).count;
}

export type ShownDelivery = ListedDelivery & {
  message_id: string;
  body: string;
  response_body: string | null;
  is_replay: boolean;
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

/** A delivery with the exact bytes that were sent. */
export async function findShownDelivery(
  sql: Sql,
  { orgId, webhookId }: DeliveriesOf,
  id: string,
): Promise<ShownDelivery | undefined> {
  const [delivery] = await sql<ShownDelivery[]>`
    select id, message_id, event, body, status, attempts, status_code, response_body, is_replay,
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

export type SecretsInTime = {
  secret: Buffer;
  previous_secret: Buffer | null;
  previous_secret_until: Date | null;
};

/** The sealed secrets, and until when the one before signs too. */
export async function findSecrets(sql: Sql, orgId: string, webhookId: string) {
  const [found] = await sql<SecretsInTime[]>`
    select secret, previous_secret, previous_secret_until
    from webhooks
    where org_id = ${orgId} and id = ${webhookId}`;
  return found;
}

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

type TestDelivery = {
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
