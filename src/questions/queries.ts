import type { Part, Sql } from '../lib/db/db.ts';
import {
  type AnsweredResponse,
  answeredJson,
  type SurveyLink,
} from '../responses/answer.queries.ts';
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

/** The state of a link after the score was submitted. */
export type AnsweredLink = Pick<
  SurveyLink,
  | 'survey_id'
  | 'org_id'
  | 'type'
  | 'question_text'
  | 'follow_up'
  | 'thanks'
  | 'texts'
  | 'questions'
  | 'embed'
  | 'language'
  | 'status'
  | 'completed_by'
  | 'organization'
  | 'color'
  | 'logo'
  | 'contact_id'
  | 'person'
  | 'now'
> & {
  is_subscribed: boolean;
  /** Includes a response on hold. Its answers are on hold too. */
  response: AnsweredResponse | null;
};

export async function findPersonalResponse(sql: Sql, token: string) {
  const [link] = await sql<AnsweredLink[]>`
    -- all organizations
    select ${linkColumns(sql)}, c.id as contact_id,
           json_build_object('name', c.name, 'properties', c.properties) as person,
           (select ${answeredJson(sql)}
            from responses r
            where r.contact_id = c.id and r.source = 'link') as response
    from contacts c
    join surveys s on s.org_id = c.org_id and s.id = c.survey_id
    join organizations o on o.id = c.org_id
    where c.token = ${token}`;
  return link;
}

export async function findSharedResponse(sql: Sql, shareId: string, responseId: string | null) {
  const [link] = await sql<AnsweredLink[]>`
    -- all organizations
    select ${linkColumns(sql)}, null as contact_id, null as person,
           (select ${answeredJson(sql)}
            from responses r
            where r.org_id = s.org_id and r.survey_id = s.id and r.id = ${responseId}::uuid
              and r.source = 'share') as response
    from surveys s
    join organizations o on o.id = s.org_id
    where s.share_id = ${shareId}`;
  return link;
}

const linkColumns = (sql: Sql) => sql`
  s.id as survey_id, s.org_id, s.type, s.question_text, s.follow_up, s.thanks, s.texts, s.questions, s.embed,
  s.language, s.status, s.completed_by, o.name as organization, o.color, o.logo, now() as now,
  exists (select from webhooks w where w.org_id = o.id and 'response.completed' = any (w.events)) as is_subscribed`;

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
  { org_id: orgId, survey_id: surveyId, contact_id: contactId, questions }: AnsweredLink,
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
