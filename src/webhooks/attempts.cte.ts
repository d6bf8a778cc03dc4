import type { Part, Sql } from '../lib/db/db.ts';

type AttemptsOf = { orgId: string; webhookId: string; deliveryId: Part };

/** All attempts at a delivery, without an order: those that failed, and the one that delivered from its row. */
export const attemptsOf = (sql: Sql, { orgId, webhookId, deliveryId }: AttemptsOf): Part => sql`
  select number, status_code, response_body, error, duration_ms, at
  from delivery_attempts
  where org_id = ${orgId} and webhook_id = ${webhookId} and delivery_id = ${deliveryId}
  union all
  select attempts, status_code, response_body, null, duration_ms, delivered_at
  from ended_deliveries
  where org_id = ${orgId} and webhook_id = ${webhookId} and id = ${deliveryId} and duration_ms is not null`;
