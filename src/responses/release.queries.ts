import { markAnswered } from '../contacts/answered.queries.ts';
import { type KnownPeople, knownPeople } from '../contacts/known.cte.ts';
import type { Sql } from '../lib/db/db.ts';
import type { Category, SurveyType } from '../scores.ts';
import { insertWaiting } from './waiting-analyses.cte.ts';

export type HeldResponse = KnownPeople & {
  id: string;
  org_id: string;
  survey_id: string;
  contact_id: string | null;
  type: SurveyType;
  score: number;
  category: Category;
  comment: string | null;
  held_reason: string | null;
  created_at: Date;
  subscribed_events: string[];
};

/** Without an organization: the operator knows a response by its id alone. */
export async function findHeld(sql: Sql, id: string) {
  const [held] = await sql<HeldResponse[]>`
    -- all organizations
    select r.id, r.org_id, r.survey_id, r.contact_id, s.type, r.score, r.category, r.comment,
           r.held_reason, r.created_at,
           ${knownPeople(sql, 'contact')},
           array(select distinct unnest(w.events) from webhooks w where w.org_id = o.id) as subscribed_events
    from responses r
    join surveys s on s.org_id = r.org_id and s.id = r.survey_id
    join organizations o on o.id = r.org_id
    left join contacts c on c.org_id = r.org_id and c.survey_id = r.survey_id and c.id = r.contact_id
    where r.id = ${id}`;
  return held;
}

export async function releaseHeld(sql: Sql, held: HeldResponse) {
  const [released] = await sql<{ id: string }[]>`
    with released as (
      update responses
      set held_reason = null
      where org_id = ${held.org_id} and id = ${held.id} and held_reason is not null
      returning id, org_id, comment
    ), marked as (
      ${markAnswered(sql, held, sql`exists (select from released)`)}
    ), analyzed as (
      ${insertWaiting(sql, {}, sql`select org_id, id from released where comment is not null`)}
    )
    select id from released`;
  return released;
}
