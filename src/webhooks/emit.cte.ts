import { enqueueEach } from '../jobs.ts';
import type { Part, Sql } from '../lib/db/db.ts';
import type { WebhookEvent } from './events.ts';
import type { RetryKind } from './rules.ts';

/** Events of one organization, with the span that causes them. */
export type NewEvents = {
  orgId: string;
  events: readonly WebhookEvent[];
  traceparent?: string | null;
  /** The lease of the process that will attempt the deliveries itself; without one, a job is written. */
  owner?: string | null;
};

/** A delivery as `emission` returns it; the event is known by its place among those handed in. */
export type EmittedDelivery = {
  id: string;
  webhook_id: string;
  place: number;
  created_at: string;
  url: string;
  /** Sealed, as base64. */
  secret: string;
  previous_secret: string | null;
  retries: RetryKind;
};

/** The part of the delivery worker that a flow needs whose events are delivered by its own process. */
export type OwnDeliveries = {
  /** The lease to emit under; null where no worker runs, so that jobs are written instead. */
  owner: () => string | null;
  /** To be called after the commit. A delivery that it is not called for is found by a sweep. */
  start: (added: NewEvents, emitted: readonly EmittedDelivery[]) => void;
};

/**
 * Makes a delivery of each event for every subscribed webhook, in the caller's transaction: an event
 * exists if, and only if, its cause was committed. Call the pump after the commit.
 */
export async function emit(sql: Sql, added: NewEvents) {
  if (added.events.length === 0) return;
  await sql`
    with ${emission(sql, added)}
    select from subscribed`;
}

/**
 * The CTEs of `emit`, for a statement that records the cause as well: each event that a webhook subscribed
 * to, once, and a delivery for each webhook, claimed by its owner, or with a job for each webhook that has
 * one. For a webhook that is switched off the delivery is skipped, and can be replayed later. They do
 * nothing unless `when` holds. A webhook is locked against its deletion: one that is being deleted must not
 * fail the caller's statement.
 */
export function emission(
  sql: Sql,
  { orgId, events, traceparent = null, owner = null }: NewEvents,
  when = sql`true`,
) {
  return sql`
    happened as materialized (
      select id_at(now()) as id, type, body, place
      from unnest(${events.map(({ type }) => type)}::text[],
                  ${events.map(({ body }) => body)}::text[])
             with ordinality as e (type, body, place)
    ), subscribed as materialized (
      select w.org_id, id_at(now()) as id, w.id as webhook_id, w.active, w.url, w.retries, w.secret,
             case when w.previous_secret_until > now() then w.previous_secret end as previous_secret,
             e.id as event_id, e.place
      from happened e
      join webhooks w on w.org_id = ${orgId} and e.type = any (w.events)
      where ${when}
      for key share of w
    ), kept as (
      insert into events (org_id, id, type, body, traceparent)
      select ${orgId}, id, type, body, ${traceparent}
      from happened
      where id in (select event_id from subscribed)
    ), ${subscribedDeliveries(sql, sql`${owner}`)}
    ${owner === null ? queuedDeliveries(sql, traceparent) : sql``}`;
}

const queuedDeliveries = (sql: Sql, traceparent: string | null) => sql`
  , queued as (
    ${enqueueEach(
      sql,
      { task: 'webhooks.deliver', traceparent },
      sql`
      select distinct jsonb_build_object('org_id', org_id, 'webhook_id', webhook_id)
      from subscribed
      where active`,
    )}
  )`;

/** How many deliveries of `emission` were skipped. */
export const skippedDeliveries = (sql: Sql) => sql`
  (select count(*)::int from subscribed where not active)`;

/** The deliveries of `emission` that are due, as JSON, for a statement that has an owner. */
export const emittedDeliveries = (sql: Sql) => sql`
  (select json_agg(${emittedDelivery(sql)}) from subscribed where active)`;

/** A delivery of `subscribed` as the process that owns it takes it. */
export const emittedDelivery = (sql: Sql) => sql`
  json_build_object(
    'id', id, 'webhook_id', webhook_id, 'place', place, 'created_at', now(), 'url', url,
    'retries', retries, 'secret', encode(secret, 'base64'), 'previous_secret', encode(previous_secret, 'base64'))`;

/** The CTEs that write the deliveries of `subscribed`: those of a webhook that is switched off are skipped. */
export const subscribedDeliveries = (sql: Sql, owner: Part) => sql`
  emitted as (
    insert into pending_deliveries (org_id, webhook_id, id, event_id, claimed_by)
    select org_id, webhook_id, id, event_id, ${owner}
    from subscribed
    where active
  ), skipped as (
    insert into ended_deliveries (org_id, webhook_id, id, event_id, undelivered)
    select org_id, webhook_id, id, event_id, 'skipped'
    from subscribed
    where not active
  )`;
