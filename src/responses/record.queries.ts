import { markAnswered } from '../contacts/answered.cte.ts';
import type { Sql } from '../lib/db/db.ts';
import { enqueueEach } from '../lib/queue/outbox.ts';
import type { Category } from '../scores.ts';
import { emission } from '../webhooks/emit.cte.ts';
import type { WebhookEvent } from '../webhooks/events.ts';

export type NewAnswer = {
  id: string;
  org_id: string;
  survey_id: string;
  contact_id: string | null;
  source: 'link' | 'share';
  score: number;
  category: Category;
  comment: string | null;
  held_reason: string | null;
  traceparent: string | null;
  created_at: Date;
};

/**
 * Records an answer and all that follows from it in one statement: five round trips fewer on the
 * hottest path. Nothing comes back, and nothing has happened, when the contact has answered already or
 * the survey takes no answers any more. An answer takes the place of a held one of the same contact.
 */
export async function insertAnswer(sql: Sql, answer: NewAnswer, events: readonly WebhookEvent[]) {
  const { org_id: orgId, traceparent } = answer;
  const counted = answer.held_reason === null;
  const [row] = await sql<{ id: string; skipped: number }[]>`
    with answered as (
      insert into responses as r (org_id, survey_id, contact_id, id, source, score, category, comment,
                                  held_reason, traceparent, created_at)
      select s.org_id, s.id, ${answer.contact_id}::uuid, ${answer.id}::uuid, ${answer.source},
             ${answer.score}::smallint, ${answer.category}, ${answer.comment}, ${answer.held_reason},
             ${traceparent}, ${answer.created_at}::timestamptz
      from surveys s
      where s.org_id = ${orgId} and s.id = ${answer.survey_id}
        and (s.status = 'active' or s.completed_by = 'answers')
      on conflict (contact_id) where source = 'link' do update
        set id = excluded.id, score = excluded.score, category = excluded.category,
            comment = excluded.comment, held_reason = excluded.held_reason,
            traceparent = excluded.traceparent, created_at = excluded.created_at
        where r.held_reason is not null
      returning r.id
    ), marked as (
      ${markAnswered(sql, answer, sql`${counted} and exists (select from answered)`)}
    ), analyzed as (
      ${enqueueEach(
        sql,
        { task: 'summaries.analyze', traceparent },
        sql`
        select json_build_object('org_id', o.id, 'response_id', answered.id, 'tries', 0)
        from answered
        join organizations o on o.id = ${orgId} and o.ai_enabled
        where ${counted} and ${answer.comment}::text is not null`,
      )}
    ), ${emission(sql, { orgId, events, traceparent }, sql`exists (select from answered)`)}
    select id, (select count(*)::int from emitted where status = 'skipped') as skipped
    from answered`;
  return row;
}
