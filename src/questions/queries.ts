import type { Part, Sql } from '../lib/db/db.ts';
import type { SurveyLink } from '../responses/answer.queries.ts';
import { insertWaitingAgain } from '../responses/waiting-analyses.ts';
import { deleteAnalysesOf } from '../summaries/queries.ts';
import type { AnswerChanges, StoredAnswers } from './check-answers.ts';
import type { Question } from './definition.ts';

type AskingSurvey = { org_id: string; id: string; questions: readonly Question[] };

/** The ids of the questions with answers, including answers on hold. */
export async function findAnswered(sql: Sql, { org_id: orgId, id, questions }: AskingSurvey) {
  const rows = await sql<{ question: string }[]>`
    select q ->> 'id' as question
    from jsonb_array_elements(${JSON.stringify(questions)}::text::jsonb) as asked (q)
    cross join lateral question_facets(q)
    where exists (
      select from response_facets f
      where f.org_id = ${orgId} and f.facet = facet_of(kind, q ->> 'id', value)
    )
    union
    select jsonb_object_keys(a.answers)
    from responses r
    join response_answers a on a.org_id = r.org_id and a.response_id = r.id
    where r.org_id = ${orgId} and r.survey_id = ${id} and r.held_reason is not null`;
  return new Set(rows.map((row) => row.question));
}

type NewAnswers = AnswerChanges & { responseId: string; isSent: boolean };

export type SavedAnswers = {
  saved: StoredAnswers;
  held: boolean;
  completed: boolean;
  /** As the API shows them. */
  shown: unknown[];
};

/** Saves answers that were checked against the questions of a link. Returns nothing if the questions have changed since. */
export async function saveAnswers(
  sql: Sql,
  { org_id: orgId, survey_id: surveyId, contact_id: contactId, questions }: SurveyLink,
  { responseId, added, removed, isSent }: NewAnswers,
) {
  const asked = sql`${JSON.stringify(questions)}::text::jsonb`;
  const [row] = await sql<SavedAnswers[]>`
    with saved as (
      select *
      from save_answers(${orgId}, ${surveyId}, ${responseId}, ${contactId}, ${asked},
                        ${JSON.stringify(added)}::text::jsonb, ${removed}, ${isSent})
    ), analyzed as (
      ${insertWaitingAgain(
        sql,
        sql`
        select ${orgId}::uuid, ${responseId}::uuid from saved where completed and rewritten and has_text`,
      )}
    ), unanalyzed as (
      ${deleteAnalysesOf(
        sql,
        sql`
        select ${orgId}::uuid, ${responseId}::uuid from saved where rewritten and not has_text`,
      )}
    )
    select saved, held, completed, answers_of(${asked}, saved) as shown
    from saved`;
  return row;
}

/** All questions of an organization or of one of its surveys, including archived ones. */
export async function listQuestions(sql: Sql, orgId: string, surveyId: string | null) {
  const rows = await sql<{ questions: Question[] }[]>`
    select questions
    from surveys
    where org_id = ${orgId} and (${surveyId}::uuid is null or id = ${surveyId}::uuid) and questions <> '[]'
    order by created_at, id`;
  return rows.flatMap(({ questions }) => questions);
}

/** The texts of the answers of a response `r` to the questions of its survey `s`, in their order, or null. */
export const wordsInOrder = (sql: Sql): Part => sql`
  (select string_agg(said, ' · ' order by place)
   from response_answers a
   cross join jsonb_array_elements(s.questions) with ordinality as asked (question, place)
   cross join lateral (select a.answers -> (question ->> 'id') as answer) given
   cross join lateral (select nullif(coalesce(answer ->> 'text', answer ->> 'other'), '') as said) words
   where a.org_id = r.org_id and a.response_id = r.id)`;
