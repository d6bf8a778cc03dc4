import { enqueue } from '../jobs.ts';
import type { Part, Sql } from '../lib/db/db.ts';
import type { WebhookEvent } from './events.ts';

export type NewEvents = {
  orgId: string;
  events: readonly WebhookEvent[];
  traceparent?: string | null;
  /** The id of what causes them, for a statement that has several causes. */
  cause?: string;
};

/** What a flow calls after the commit of its `emission`. Deliveries that it is not called for are found by a sweep. */
export type OwnDeliveries = { start: (orgId: string, webhookIds: readonly string[]) => void };

/**
 * Makes a delivery of each event for every subscribed webhook, in the caller's transaction: an event
 * exists if, and only if, its cause was committed. A job wakes each webhook.
 */
export async function emit(sql: Sql, added: NewEvents) {
  const { orgId, events, traceparent = null } = added;
  if (events.length === 0) return;
  const webhooks = await sql<{ webhook_id: string }[]>`
    with ${emission(sql, [added])}
    select distinct webhook_id from subscribed where active`;
  await enqueue(
    sql,
    webhooks.map(({ webhook_id }) => ({
      task: 'webhooks.deliver',
      payload: { org_id: orgId, webhook_id },
      traceparent,
    })),
  );
}

/**
 * The CTEs of `emit`, for a statement that records the causes as well: each event that a webhook subscribed to, once,
 * and a delivery for each webhook. For a webhook that is switched off the delivery is skipped, and can be replayed
 * later. They do nothing for events `e` where `when` does not hold. A webhook is locked against its deletion: one that
 * is being deleted must not fail the caller's statement. `deliveries_of` has a row for each cause with deliveries.
 */
export const emission = (sql: Sql, added: readonly NewEvents[], when = sql`true`): Part => sql`
    happened as materialized (
      select id_at(now()) as id, e.*
      from json_to_recordset(${eventRows(added)}::text::json)
        as e (cause uuid, org_id uuid, type text, body text, traceparent text)
      where ${when}
    ), subscribed as materialized (
      select e.org_id, id_at(now()) as id, e.cause, e.id as event_id, w.id as webhook_id, w.active
      from happened e
      cross join lateral (
        select id, active
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
      insert into pending_deliveries (org_id, webhook_id, id, event_id)
      select org_id, webhook_id, id, event_id
      from subscribed
      where active
    ), skipped as (
      insert into ended_deliveries (org_id, webhook_id, id, event_id, undelivered)
      select org_id, webhook_id, id, event_id, 'skipped'
      from subscribed
      where not active
    ), deliveries_of as (
      select cause, count(*) filter (where not active)::int as skipped,
             coalesce(array_agg(distinct webhook_id) filter (where active), '{}') as webhook_ids
      from subscribed
      group by cause
    )`;

const eventRows = (added: readonly NewEvents[]) =>
  JSON.stringify(
    added.flatMap(({ cause = null, orgId, events, traceparent = null }) =>
      events.map(({ type, body }) => ({ cause, org_id: orgId, type, body, traceparent })),
    ),
  );

type MissedSince = { orgId: string; webhookId: string; since: Date };

/**
 * What a webhook has missed since a time: deliveries that were skipped or failed and were not made again
 * since, but for those of erased events. A delivery that is made again names the first.
 */
export const missedDeliveries = (sql: Sql, { orgId, webhookId, since }: MissedSince): Part => sql`
  -- organization: caller
  select d.id, d.event_id, coalesce(d.message_id, d.id) as message_id, d.is_test,
         coalesce(d.traceparent, e.traceparent) as traceparent
  from ended_deliveries d
  join events e on e.org_id = d.org_id and e.id = d.event_id and e.erased_at is null
  where d.org_id = ${orgId} and d.webhook_id = ${webhookId} and d.id >= least_id_at(${since})
    and d.undelivered is not null and not d.is_test
    and not exists (
      select from pending_deliveries later
      where later.webhook_id = d.webhook_id and later.message_id = coalesce(d.message_id, d.id) and later.id > d.id
    ) and not exists (
      select from ended_deliveries later
      where later.webhook_id = d.webhook_id and later.message_id = coalesce(d.message_id, d.id) and later.id > d.id
    )`;
