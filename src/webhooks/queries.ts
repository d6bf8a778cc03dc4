import { notFound } from '../errors.ts';
import { one, type Part, type Sql } from '../lib/db/db.ts';
import type { EventType } from './events.ts';
import type { RetryKind } from './rules.ts';

export type WebhookRow = {
  id: string;
  org_id: string;
  url: string;
  events: EventType[];
  retries: RetryKind;
  active: boolean;
  failure_count: number;
  description: string | null;
  created_at: Date;
  updated_at: Date;
  deactivated_at: Date | null;
  deactivated_reason: string | null;
  last_delivery_at: Date | null;
};

const columns = (sql: Sql) => sql`
  id, org_id, url, events, retries, active, failure_count, description, created_at, updated_at,
  deactivated_at, deactivated_reason, last_delivery_at`;

export async function listWebhooks(sql: Sql, orgId: string) {
  return await sql<WebhookRow[]>`
    select ${columns(sql)}
    from webhooks
    where org_id = ${orgId}
    order by created_at desc, id desc`;
}

export async function findWebhook(sql: Sql, orgId: string, id: string) {
  const [webhook] = await sql<WebhookRow[]>`
    select ${columns(sql)}
    from webhooks
    where org_id = ${orgId} and id = ${id}`;
  return webhook;
}

export async function lockWebhook(sql: Sql, orgId: string, id: string) {
  const locked = await sql`
    select from webhooks where org_id = ${orgId} and id = ${id} for no key update`;
  return locked.length === 0 ? undefined : await findWebhook(sql, orgId, id);
}

/** Serializes the organization's creations, so that its webhooks can be counted against their limit. */
export async function lockAndCountWebhooks(sql: Sql, orgId: string): Promise<number> {
  const locked = await sql`select from organizations where id = ${orgId} for no key update`;
  if (locked.length === 0) throw notFound('organization');
  return one(
    await sql<{ count: number }[]>`
      select count(*)::int as count from webhooks where org_id = ${orgId}`,
  ).count;
}

type NewWebhook = {
  id: string;
  url: string;
  events: readonly EventType[];
  description: string | null;
  retries: RetryKind;
  secret: Buffer;
};

export async function insertWebhook(sql: Sql, orgId: string, webhook: NewWebhook) {
  return one(
    await sql<WebhookRow[]>`
      insert into webhooks (org_id, id, url, events, description, retries, secret)
      values (${orgId}, ${webhook.id}, ${webhook.url}, ${[...webhook.events]}, ${webhook.description},
              ${webhook.retries}, ${webhook.secret})
      returning ${columns(sql)}`,
  );
}

type WebhookChange = {
  url: string | null;
  events: EventType[] | null;
  description: string | null;
  describes: boolean;
  retries: RetryKind | null;
  active: boolean | null;
};

/** Switching a webhook on ends its run of failures; what was skipped meanwhile waits for a replay. */
export async function updateWebhook(sql: Sql, orgId: string, id: string, change: WebhookChange) {
  const { url, events, description, describes, retries, active } = change;
  const [webhook] = await sql<WebhookRow[]>`
    update webhooks
    set url = coalesce(${url}, url),
        events = coalesce(${events}::text[], events),
        description = case when ${describes} then ${description} else description end,
        retries = coalesce(${retries}, retries),
        active = coalesce(${active}, active),
        failure_count = case when ${active ?? false} then 0 else failure_count end,
        deactivated_at = case ${active}::boolean when true then null
                              when false then coalesce(deactivated_at, now())
                              else deactivated_at end,
        deactivated_reason = case ${active}::boolean when true then null
                                  when false then coalesce(deactivated_reason, 'switched off by its owner')
                                  else deactivated_reason end,
        undelivered_since = case when ${active ?? false} then now() else undelivered_since end,
        updated_at = now()
    where org_id = ${orgId} and id = ${id}
    returning ${columns(sql)}`;
  return webhook;
}

export async function deleteWebhook(sql: Sql, orgId: string, id: string): Promise<boolean> {
  const gone = await sql`delete from webhooks where org_id = ${orgId} and id = ${id}`;
  return gone.count > 0;
}

/** The secret so far signs too for a day, so that a receiver has time to change over. */
export async function rotateSecret(sql: Sql, orgId: string, id: string, secret: Buffer) {
  const [webhook] = await sql<WebhookRow[]>`
    update webhooks
    set previous_secret = secret, previous_secret_until = now() + interval '24 hours',
        secret = ${secret}, updated_at = now()
    where org_id = ${orgId} and id = ${id}
    returning ${columns(sql)}`;
  return webhook;
}

export type WebhookTarget = {
  url: string;
  secret: Buffer;
  previous_secret: Buffer | null;
  retries: RetryKind;
};

const target = (sql: Sql) => sql`
  url, retries, secret, case when previous_secret_until > now() then previous_secret end as previous_secret`;

/** Undefined when the webhook is switched off. */
export async function findActiveTarget(sql: Sql, orgId: string, id: string) {
  const [row] = await sql<WebhookTarget[]>`
    select ${target(sql)} from webhooks where org_id = ${orgId} and id = ${id} and active`;
  return row;
}

export async function findTarget(sql: Sql, orgId: string, id: string) {
  const [row] = await sql<WebhookTarget[]>`
    select ${target(sql)} from webhooks where org_id = ${orgId} and id = ${id}`;
  return row;
}

export type Deactivation = {
  url: string;
  deactivated_at: Date;
  deactivated_reason: string;
  organization: string;
  slug: string;
  contact_email: string | null;
};

/** A webhook that is switched off, with the address of the notice. */
export async function findDeactivation(sql: Sql, orgId: string, id: string) {
  const [found] = await sql<Deactivation[]>`
    select w.url, w.deactivated_at, w.deactivated_reason, o.name as organization, o.slug, o.contact_email
    from webhooks w
    join organizations o on o.id = w.org_id
    where w.org_id = ${orgId} and w.id = ${id} and not w.active and w.deactivated_at is not null`;
  return found;
}

type NewestOf = { orgId: string; webhookId: string; atMost: number; status: string | null };

/** Ids of a webhook's newest deliveries, newest first: each kind of them by its own index. */
export const newestDeliveries = (
  sql: Sql,
  { orgId, webhookId, atMost, status }: NewestOf,
): Part => sql`
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
