import { recordAct, type Writer } from '../audit/acts.ts';
import { markAnswered } from '../contacts/queries.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import { type Db, inTransaction } from '../lib/db/db.ts';
import { completeIfAnswered } from '../surveys/lifecycle.ts';
import { lockForLastResponse } from '../surveys/queries.ts';
import { emit } from '../webhooks/emit.ts';
import { type Excerpt, eventsOf, findForEvents } from './events.ts';
import { insertWaiting } from './waiting-analyses.ts';

type ReleaseTools = { db: Db; excerpt: Excerpt };

/** Takes a response off hold: counts it, publishes its events, queues its analysis and may complete the survey. */
export async function releaseResponse(tools: ReleaseTools, { orgId, actor }: Writer, id: string) {
  const held = await findForEvents(tools.db, id);
  if (held?.org_id !== orgId) throw notFound('response');
  if (held.held_reason === null) {
    throw new Refusal('conflict', 'this response is not on hold', { code: 'not_held' });
  }
  const { events, later } = await eventsOf(tools, held, held);
  const { survey_id: surveyId, score } = held;

  return await inTransaction(tools.db, async (tx) => {
    await lockForLastResponse(tx, orgId, surveyId);
    const released = await tx`
      with released as (
        update responses
        set held_reason = null
        where org_id = ${orgId} and id = ${id} and held_reason is not null
        returning id, org_id, comment
      ), marked as (
        ${markAnswered(tx, held, tx`exists (select from released)`)}
      ), analyzed as (
        ${insertWaiting(tx, tx`select org_id, id, null::text from released where comment is not null`)}
      )
      select from released`;
    if (released.length === 0) {
      throw new Refusal('conflict', 'this response was replaced in the meantime');
    }
    await emit(tx, { orgId, events });
    if (later) await enqueue(tx, [later]);
    await completeIfAnswered(tx, { orgId }, surveyId);
    const target = { kind: 'response', id };
    await recordAct(tx, { orgId, actor, act: 'response.released', target });
    return { id, survey_id: surveyId, score };
  });
}

/** Skips responses that are not on hold. Returns the number of released responses. */
export async function releaseMany(tools: ReleaseTools, writer: Writer, ids: readonly string[]) {
  let released = 0;
  for (const id of new Set(ids)) {
    if (await tryRelease(tools, writer, id)) released += 1;
  }
  return released;
}

/** Returns false if another member has already released or deleted the response. */
export async function tryRelease(tools: ReleaseTools, writer: Writer, id: string) {
  try {
    await releaseResponse(tools, writer, id);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
