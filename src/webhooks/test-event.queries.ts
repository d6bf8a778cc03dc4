import type { Sql } from '../lib/db/db.ts';

export type Tried = {
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

/** Keeps a delivery that was attempted outside of the queue, when it is over. */
export async function insertTried(sql: Sql, orgId: string, tried: Tried) {
  await sql`
    with delivery as (
      insert into deliveries (org_id, id, message_id, webhook_id, event, body, status, attempts,
                              status_code, response_body, delivered_at, traceparent)
      select org_id, ${tried.id}::uuid, ${tried.id}::uuid, id, ${tried.event}, ${tried.body},
             ${tried.status}, 1, ${tried.status_code}::smallint, ${tried.response_body},
             case when ${tried.status} = 'delivered' then now() end, ${tried.traceparent}
      from webhooks
      where org_id = ${orgId} and id = ${tried.webhook_id}
      returning org_id, id
    )
    insert into delivery_attempts
      (org_id, delivery_id, number, status_code, response_body, error, duration_ms, at)
    select org_id, id, 1, ${tried.status_code}::smallint, ${tried.response_body}, ${tried.error},
           ${tried.duration_ms}, ${tried.at}
    from delivery`;
}
