import { enqueueEachTraced } from '../jobs.ts';
import type { Sql } from '../lib/db/db.ts';
import { emittedDelivery, type NewEvents, subscribedDeliveries } from './emit.cte.ts';

/** The events that one cause adds. */
export type EventsOfCause = { cause: string; added: NewEvents };

/**
 * The CTEs of `emission` for the events of several causes, of any organizations: those of each cause that the
 * select `causes` names by its id.
 */
export function emissionTogether(
  sql: Sql,
  given: readonly EventsOfCause[],
  causes: ReturnType<typeof sql>,
) {
  return sql`
    happened as materialized (
      select id_at(now()) as id, e.*
      from json_to_recordset(${eventRows(given)}::text::json)
        as e (cause uuid, org_id uuid, place int, type text, body text, traceparent text, owner text)
      where e.cause in (${causes})
    ), subscribed as materialized (
      select e.org_id, id_at(now()) as id, e.cause, e.place, e.id as event_id, e.traceparent, e.owner,
             w.id as webhook_id, w.active, w.url, w.retries, w.secret,
             case when w.previous_secret_until > now() then w.previous_secret end as previous_secret
      from happened e
      cross join lateral (
        select *
        from webhooks
        where org_id = e.org_id and e.type = any (events)
        for key share
      ) w
    ), kept as (
      insert into events (org_id, id, type, body, traceparent)
      select org_id, id, type, body, traceparent
      from happened
      where id in (select event_id from subscribed)
    ), ${subscribedDeliveries(sql, sql`owner`)}
    ${given.every(({ added }) => added.owner) ? sql`` : queuedWithoutOwner(sql)}
    , deliveries_of as (
      select cause, count(*) filter (where not active)::int as skipped,
             json_agg(${emittedDelivery(sql)}) filter (where active) as emitted
      from subscribed
      group by cause
    )`;
}

const queuedWithoutOwner = (sql: Sql) => sql`
  , queued as (
    ${enqueueEachTraced(
      sql,
      'webhooks.deliver',
      sql`
      select jsonb_build_object('org_id', org_id, 'webhook_id', webhook_id), traceparent
      from subscribed
      where active and owner is null
      group by cause, org_id, webhook_id, traceparent`,
    )}
  )`;

const eventRows = (given: readonly EventsOfCause[]) =>
  JSON.stringify(
    given.flatMap(({ cause, added: { orgId, events, traceparent = null, owner = null } }) =>
      events.map(({ type, body }, at) => ({
        cause,
        org_id: orgId,
        place: at + 1,
        type,
        body,
        traceparent,
        owner,
      })),
    ),
  );
