import { type PeopleToRedact, peopleToRedact } from '../contacts/queries.ts';
import { Refusal } from '../errors.ts';
import type { JobPayloads, NewJob } from '../jobs.ts';
import { withinMs } from '../lib/async/deadline.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { emit, hasEventOf } from '../webhooks/emit.ts';
import { detractorDetected, responseReceived, type WebhookEvent } from '../webhooks/events.ts';
import type { NewResponse, SurveyLink } from './answer.queries.ts';

/** The beginning of a comment, redacted. Throws an `unavailable` refusal while the redaction worker is down. */
export type Excerpt = (
  comment: string,
  people: { orgId: string; names: readonly string[]; emails: readonly string[]; language: string },
) => Promise<string>;

/** A respondent waits at most this long for the excerpt. After that, a job publishes the event. */
const maxExcerptWaitMs = 3_000;

type EventContext = Pick<
  SurveyLink,
  'type' | 'known_names' | 'known_addresses' | 'subscribed_events'
>;
type EventSource = Pick<
  NewResponse,
  'id' | 'org_id' | 'survey_id' | 'score' | 'category' | 'comment' | 'language' | 'created_at'
>;

/**
 * Events of a response that counts. Redaction is expensive, so it only runs for a subscriber. When it takes too long,
 * the caller enqueues the job `later` in the transaction of the response.
 */
export async function eventsOf(
  { excerpt }: { excerpt: Excerpt },
  { subscribed_events, ...context }: EventContext,
  response: EventSource,
): Promise<{ events: WebhookEvent[]; later?: NewJob }> {
  const events: WebhookEvent[] = [];
  const { comment, category, id: response_id, org_id } = response;
  if (subscribed_events.includes('response.received')) {
    events.push(responseReceived({ ...eventFields(context, response), comment }));
  }
  if (category === 'detractor' && subscribed_events.includes('detractor.detected')) {
    const written = withinMs(
      writeDetractor(excerpt, context, response),
      maxExcerptWaitMs,
      () => null,
    );
    const event = await written.catch(nullIfUnavailable);
    if (!event) {
      return {
        events,
        later: { task: 'responses.publish_detractor', payload: { org_id, response_id } },
      };
    }
    events.push(event);
  }
  return { events };
}

function nullIfUnavailable(error: unknown) {
  if (error instanceof Refusal && error.kind === 'unavailable') return null;
  throw error;
}

type Context = Omit<EventContext, 'subscribed_events'>;

async function writeDetractor(excerpt: Excerpt, context: Context, response: EventSource) {
  const { comment, org_id: orgId, language } = response;
  const people = { orgId, names: context.known_names, emails: context.known_addresses, language };
  const text = comment === null ? null : await excerpt(comment, people);
  return detractorDetected({ ...eventFields(context, response), excerpt: text });
}

const eventFields = ({ type }: Context, { id, survey_id, score, created_at }: EventSource) => ({
  surveyId: survey_id,
  responseId: id,
  surveyType: type,
  score,
  at: created_at,
});

type PublishTools = { db: Db; excerpt: Excerpt };

/** Publishes the event of a detractor once, if the comment was not redacted in time. Leaves out an erased comment. */
export async function publishDetractor(
  tools: PublishTools,
  job: JobPayloads['responses.publish_detractor'],
  traceparent: string | null,
): Promise<void> {
  const { db, excerpt } = tools;
  const { org_id: orgId, response_id: id } = job;
  const response = await findForEvents(db, id);
  if (response?.org_id !== orgId || response.held_reason !== null) return;
  const event = await writeDetractor(excerpt, response, response);
  const isCurrent = await inTransaction(db, async (tx) => {
    const { count } = await tx`
      select from responses
      where org_id = ${orgId} and id = ${id} and comment is not distinct from ${response.comment}
      for no key update`;
    if (count === 0) return false;
    if (
      !(await hasEventOf(tx, orgId, {
        type: event.type,
        responseId: id,
        since: response.created_at,
      }))
    )
      await emit(tx, { orgId, events: [event], traceparent });
    return true;
  });
  if (!isCurrent) await publishDetractor(tools, job, traceparent);
}

type RecordedResponse = Omit<NewResponse, 'source' | 'properties' | 'traceparent'> &
  PeopleToRedact &
  Pick<SurveyLink, 'subscribed_events'>;

/** A response with what its events need. Takes no organization, because operators release responses by id. */
export async function findForEvents(sql: Sql, id: string) {
  const [response] = await sql<RecordedResponse[]>`
    -- all organizations
    select r.id, r.org_id, r.survey_id, r.contact_id, s.type, r.score, r.category, r.comment,
           coalesce(r.language, s.language) as language, r.held_reason, r.created_at,
           ${peopleToRedact(sql, 'contact')},
           array(select distinct unnest(w.events) from webhooks w where w.org_id = o.id) as subscribed_events
    from responses r
    join surveys s on s.org_id = r.org_id and s.id = r.survey_id
    join organizations o on o.id = r.org_id
    left join contacts c on c.org_id = r.org_id and c.survey_id = r.survey_id and c.id = r.contact_id
    where r.id = ${id}`;
  return response;
}
