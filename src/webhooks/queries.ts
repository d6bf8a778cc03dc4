import { orNotFound } from '../errors.ts';
import type { Sql } from '../lib/db/db.ts';
import type { EventType } from './events.ts';
import { offManually, type RetryKind } from './rules.ts';

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

export const webhookColumns = (sql: Sql) => sql`
  id, org_id, url, events, retries, active, failure_count, description, created_at, updated_at,
  deactivated_at, deactivated_reason, last_delivery_at`;

/** True if the webhook is failing, or if failures turned it off. */
export const isTroubled = (sql: Sql) => sql`
  case when active then failure_count > 0 else deactivated_reason <> ${offManually} end`;

export async function listWebhooks(sql: Sql, orgId: string) {
  return await sql<WebhookRow[]>`
    select ${webhookColumns(sql)}
    from webhooks
    where org_id = ${orgId}
    order by created_at desc, id desc`;
}

export async function getWebhook({ db }: { db: Sql }, orgId: string, id: string) {
  const [webhook] = await db<WebhookRow[]>`
    select ${webhookColumns(db)}
    from webhooks
    where org_id = ${orgId} and id = ${id}`;
  return orNotFound(webhook, 'webhook');
}

export type WebhookTarget = {
  active: boolean;
  url: string;
  retries: RetryKind;
  secret: Buffer;
  previous_secret: Buffer | null;
  previous_secret_until: Date | null;
  updated_at: Date;
};

export async function findTarget(sql: Sql, orgId: string, id: string) {
  const [row] = await sql<WebhookTarget[]>`
    select active, url, retries, secret, previous_secret, previous_secret_until, updated_at
    from webhooks
    where org_id = ${orgId} and id = ${id}`;
  return row;
}
