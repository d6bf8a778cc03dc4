import { enqueue } from '../jobs.ts';
import type { Part, Sql } from '../lib/db/db.ts';
import type { WebhookRef } from './delivery.queries.ts';
import type { EventType, WebhookEvent } from './events.ts';

export type NewEvents = {
  orgId: string;
  events: readonly WebhookEvent[];
  traceparent?: string | null;
  /** Lease of the process that will attempt the deliveries. A sweep finds deliveries without a lease. */
  owner?: string | null;
  /** Id of the cause, for a statement with several causes. */
  cause?: string;
};

/** `place` is the position of the event among the events of its cause, from 1. */
export type EmittedDelivery = {
  id: string;
  webhook_id: string;
  place: number;
  created_at: string;
  webhook_updated_at: string;
};

/** For callers whose own process attempts the deliveries right after the commit. */
export type OwnDeliveries = {
  /** The lease to emit under; null where no worker runs. */
  owner: () => string | null;
  /** Call it after the commit. A sweep finds forgotten deliveries. */
  start: (added: NewEvents, emitted: readonly EmittedDelivery[]) => void;
};

/** Creates deliveries for all subscribed webhooks in the caller's transaction, and a job per webhook. */
export async function emit(sql: Sql, added: NewEvents) {
  if (added.events.length === 0) return;
  const webhooks = await sql<WebhookRef[]>`
    with ${emission(sql, [added])}
    select distinct org_id, webhook_id from subscribed where active`;
  const { traceparent = null } = added;
  await enqueue(
    sql,
    webhooks.map(({ org_id, webhook_id }) => ({
      task: 'webhooks.deliver',
      payload: { org_id, webhook_id },
      traceparent,
    })),
  );
}

/**
 * CTEs that insert events and one delivery per subscribed webhook, claimed by `owner`. Deliveries of inactive webhooks
 * are skipped and can be replayed. Webhooks are locked, so that a concurrent deletion cannot fail the statement.
 */
export const emission = (sql: Sql, added: readonly NewEvents[], when = sql`true`): Part => sql`
    happened as materialized (
      select id_at(now()) as id, e.*
      from json_to_recordset(${eventRows(added)}::text::json)
        as e (cause uuid, org_id uuid, place int, type text, body text, traceparent text, owner text)
      where ${when}
    ), subscribed as materialized (
      select e.org_id, id_at(now()) as id, e.cause, e.place, e.id as event_id, e.owner,
             w.id as webhook_id, w.active, w.updated_at
      from happened e
      cross join lateral (
        select id, active, updated_at
        from webhooks
        where org_id = e.org_id and e.type = any (events)
        for key share
      ) w
    ), kept as (
      insert into events (org_id, id, type, body, traceparent)
      select org_id, id, type, body, traceparent
      from happened
      where id in (select event_id from subscribed)
    ), emitted as (
      insert into pending_deliveries (org_id, webhook_id, id, event_id, claimed_by)
      select org_id, webhook_id, id, event_id, owner
      from subscribed
      where active
    ), skipped as (
      insert into ended_deliveries (org_id, webhook_id, id, event_id, undelivered)
      select org_id, webhook_id, id, event_id, 'skipped'
      from subscribed
      where not active
    ), deliveries_of as (
      select cause, count(*) filter (where not active)::int as skipped,
             json_agg(json_build_object(
               'id', id, 'webhook_id', webhook_id, 'place', place, 'created_at', now(),
               'webhook_updated_at', updated_at
             )) filter (where active) as emitted
      from subscribed
      group by cause
    )`;

const eventRows = (added: readonly NewEvents[]) =>
  JSON.stringify(
    added.flatMap(({ cause = null, orgId, events, traceparent = null, owner = null }) =>
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

type ResponseEvent = { type: EventType; responseId: string; since: Date };

/** Events are never older than their response, which bounds the search. */
export async function hasEventOf(
  sql: Sql,
  orgId: string,
  { type, responseId, since }: ResponseEvent,
) {
  const [event] = await sql`
    select from events
    where org_id = ${orgId} and id >= least_id_at(${since}::timestamptz - interval '10 seconds')
      and type = ${type} and strpos(body, ${responseId}) > 0
    limit 1`;
  return event !== undefined;
}
