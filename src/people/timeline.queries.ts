import type { Sql } from '../lib/db/db.ts';
import type { Category, SurveyType } from '../scores.ts';

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
 * The deliveries of what an address answered. They are written with the response, in one transaction: their
 * ids and those of their events are of that time, and the event has the id of the response in its payload.
 */
export async function listDeliveriesOf(sql: Sql, orgId: string, email: string) {
  return await sql<DeliveredEvent[]>`
    select coalesce(d.delivered_at, d.created_at) as at, e.type as event, d.status, w.url, d.id as delivery_id,
           w.id as webhook_id, s.id as survey_id, s.name as survey_name
    from contacts c
    join responses r on r.org_id = c.org_id and r.contact_id = c.id
    join surveys s on s.org_id = c.org_id and s.id = c.survey_id
    join events e on e.org_id = c.org_id
     and e.id between least_id_at(r.created_at - interval '10 seconds')
                  and least_id_at(r.created_at + interval '10 seconds')
     and strpos(e.body, r.id::text) > 0
    join webhooks w on w.org_id = c.org_id
    join deliveries d on d.org_id = c.org_id and d.webhook_id = w.id and d.event_id = e.id
     and d.id between least_id_at(r.created_at - interval '10 seconds')
                  and least_id_at(r.created_at + interval '10 seconds')
    where c.org_id = ${orgId} and c.email_key = lower(${email})
    order by 1, d.id`;
}

export type AnswerOfPerson = {
  id: string;
  type: SurveyType;
  score: number;
  category: Category;
  comment: string | null;
};

/** What an address answered, to be shown with its steps. */
export async function listAnswersOf(sql: Sql, orgId: string, email: string) {
  return await sql<AnswerOfPerson[]>`
    select r.id, s.type, r.score, r.category, r.comment
    from contacts c
    join responses r on r.org_id = c.org_id and r.contact_id = c.id
    join surveys s on s.org_id = c.org_id and s.id = c.survey_id
    where c.org_id = ${orgId} and c.email_key = lower(${email})`;
}
