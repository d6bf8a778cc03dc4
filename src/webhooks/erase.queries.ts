import type { Sql } from '../lib/db/db.ts';

export type ErasedEvents = { responseIds: readonly string[]; since: Date };

/**
 * Erases the bodies of events that carry an excerpt of a comment of these responses, and what subscribers answered to
 * them: they may have sent it back. What is still to be delivered is skipped. Events are not older than their responses.
 */
export async function eraseBodiesOf(
  sql: Sql,
  orgId: string,
  { responseIds, since }: ErasedEvents,
): Promise<number> {
  const { count } = await sql`
    with erased as (
      update deliveries d
      set body = '', erased_at = now(), response_body = null, claimed_by = null, next_attempt_at = null,
          status = case when d.status = 'pending' then 'skipped' else d.status end
      from webhooks w
      where w.org_id = ${orgId} and d.org_id = w.org_id and d.webhook_id = w.id
        and d.created_at >= ${since}::timestamptz - interval '10 seconds'
        and d.event = 'detractor.detected' and d.erased_at is null
        and strpos(d.body, '"comment":null') = 0
        and exists (select from unnest(${[...responseIds]}::text[]) as of (id) where strpos(d.body, of.id) > 0)
      returning d.org_id, d.id
    ), attempts as (
      update delivery_attempts a
      set response_body = null, error = null
      from erased
      where a.org_id = erased.org_id and a.delivery_id = erased.id
    )
    select from erased`;
  return count;
}

/** Whether a delivery is one whose body was erased. */
export async function wasErased(
  sql: Sql,
  orgId: string,
  { webhookId, deliveryId }: { webhookId: string; deliveryId: string },
): Promise<boolean> {
  const found = await sql`
    select from deliveries
    where org_id = ${orgId} and webhook_id = ${webhookId} and id = ${deliveryId} and erased_at is not null`;
  return found.length > 0;
}
