import { type PeopleToRedact, peopleToRedact } from '../contacts/queries.ts';
import type { JobPayloads } from '../jobs.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { poolForGroup } from '../lib/db/fair-pool.ts';
import type { Excerpt } from '../responses/events.ts';
import { insertWaitingAgain } from '../responses/waiting-analyses.ts';
import type { SurveyType } from '../survey-types.ts';
import { emit } from '../webhooks/emit.ts';
import { type CompletedAnswer, responseCompleted } from '../webhooks/events.ts';
import type { StoredAnswers } from './check-answers.ts';
import type { Question } from './definition.ts';

const quietMinutes = 30;
const maxSwept = 1000;

type PublishTools = { db: Db; excerpt: Excerpt };

/** Publishes response.completed once, leaves out erased texts, and queues the texts for analysis. */
export async function publishCompleted(
  tools: PublishTools,
  job: JobPayloads['questions.publish_completed'],
  traceparent: string | null = null,
): Promise<void> {
  const { org_id: orgId, response_id: id } = job;
  const response = await findIncomplete(tools.db, orgId, id);
  if (!response) return;
  const { survey_id: surveyId, score, is_subscribed } = response;
  const answers = is_subscribed ? await writeAnswers(tools, orgId, response) : [];
  await inTransaction(tools.db, async (tx) => {
    // The lock waits for an erasure, which removes texts from the row and from existing events.
    await tx`select from responses where org_id = ${orgId} and id = ${id} for no key update`;
    const [completed] = await tx<{ at: Date; has_words: boolean }[]>`
      update response_answers
      set completed_at = now()
      where org_id = ${orgId} and response_id = ${id} and completed_at is null
        and answers = ${JSON.stringify(response.answers)}::text::jsonb
      returning completed_at as at, words is not null as has_words`;
    if (!completed) return; // The answers have changed since: the sweep completes them.
    if (is_subscribed) {
      const event = responseCompleted({
        surveyId,
        responseId: id,
        score,
        surveyType: response.type,
        answers,
        at: completed.at,
      });
      await emit(tx, { orgId, events: [event], traceparent });
    }
    if (completed.has_words) {
      await insertWaitingAgain(tx, tx`select ${orgId}::uuid, ${id}::uuid`);
    }
  });
}

/**
 * Completes answers that were saved a while ago and never sent. Also completes answers of released responses, and
 * answers that a dead process did not finish.
 */
export async function sweepCompletions(tools: PublishTools) {
  await completeUnsubscribed(tools.db);
  const errors: unknown[] = [];
  for (const due of await listDue(tools.db)) {
    const publishing = publishCompleted({ ...tools, db: poolForGroup(tools.db, due.org_id) }, due);
    // A response that fails every time must not delay the others.
    await publishing.catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}

type Incomplete = PeopleToRedact & {
  survey_id: string;
  type: SurveyType;
  score: number;
  language: string;
  questions: Question[];
  answers: StoredAnswers;
  is_subscribed: boolean;
};

async function findIncomplete(sql: Sql, orgId: string, id: string) {
  const [row] = await sql<Incomplete[]>`
    select r.survey_id, s.type, r.score, coalesce(r.language, s.language) as language, s.questions, a.answers,
           ${peopleToRedact(sql, 'contact')}, ${isSubscribed(sql)} as is_subscribed
    from response_answers a
    join responses r on r.org_id = a.org_id and r.id = a.response_id
    join surveys s on s.org_id = r.org_id and s.id = r.survey_id
    join organizations o on o.id = a.org_id
    left join contacts c on c.org_id = r.org_id and c.survey_id = r.survey_id and c.id = r.contact_id
    where a.org_id = ${orgId} and a.response_id = ${id} and a.completed_at is null and r.held_reason is null`;
  return row;
}

const isSubscribed = (sql: Sql) => sql`
  exists (select from webhooks w where w.org_id = a.org_id and 'response.completed' = any (w.events))`;

/** Answers in the order of the survey. Texts are redacted and cut like the excerpt of a comment. */
async function writeAnswers({ excerpt }: PublishTools, orgId: string, response: Incomplete) {
  const { questions, answers, known_names: names, known_addresses: emails, language } = response;
  const written: CompletedAnswer[] = [];
  for (const { id, kind } of questions) {
    const answer = answers[id];
    if (!answer) continue;
    const { value = null, text } = answer;
    const known = { orgId, names, emails, language };
    written.push({
      questionId: id,
      kind,
      value: text === undefined ? value : await excerpt(text, known),
    });
  }
  return written;
}

const isDue = (sql: Sql) => sql`
  a.completed_at is null and (a.sent or a.saved_at < now() - make_interval(mins => ${quietMinutes}))
  and exists (select from responses r where r.org_id = a.org_id and r.id = a.response_id and r.held_reason is null)`;

async function listDue(sql: Sql) {
  return await sql<{ org_id: string; response_id: string }[]>`
    -- all organizations
    select a.org_id, a.response_id
    from response_answers a
    where ${isDue(sql)} and ${isSubscribed(sql)}
    order by a.saved_at
    limit ${maxSwept}`;
}

/** Completes all answers that have no subscriber in one statement, because there is nothing to publish. */
async function completeUnsubscribed(sql: Sql) {
  await sql`
    -- all organizations
    with completed as (
      update response_answers a
      set completed_at = now()
      where ${isDue(sql)} and not ${isSubscribed(sql)}
      returning a.org_id, a.response_id, a.words
    )
    ${insertWaitingAgain(sql, sql`select org_id, response_id from completed where words is not null`)}`;
}
