import type { Sql } from '../lib/db/db.ts';

export type DeliveredEvent = {
  at: Date;
  event: string;
  status: 'pending' | 'delivered' | 'failed' | 'skipped';
  url: string;
  delivery_id: string;
  webhook_id: string;
  survey_id: string;
  survey_name: string;
};

/**
 * The deliveries of what an address answered. They are written with the response, in one transaction: an index
 * finds them by their webhook and that time, and the id of the response in their payload distinguishes them.
 */
export async function listDeliveriesOf(sql: Sql, orgId: string, email: string) {
  return await sql<DeliveredEvent[]>`
    select coalesce(d.delivered_at, d.created_at) as at, d.event, d.status, w.url, d.id as delivery_id,
           w.id as webhook_id, s.id as survey_id, s.name as survey_name
    from contacts c
    join responses r on r.org_id = c.org_id and r.contact_id = c.id
    join surveys s on s.org_id = c.org_id and s.id = c.survey_id
    join webhooks w on w.org_id = c.org_id
    join deliveries d on d.webhook_id = w.id
     and d.created_at between r.created_at - interval '10 seconds' and r.created_at + interval '10 seconds'
     and strpos(d.body, r.id::text) > 0
    where c.org_id = ${orgId} and c.email_key = lower(${email})
    order by 1, d.id`;
}
