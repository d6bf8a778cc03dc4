import { recordAct, type Writer } from '../audit/acts.ts';
import { markAnswered } from '../contacts/queries.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import { type Db, inTransaction } from '../lib/db/db.ts';
import { completeIfAnswered } from '../surveys/lifecycle.ts';
import { lockForLastResponse } from '../surveys/queries.ts';
import { emit } from '../webhooks/emit.ts';
import { type Excerpt, eventsOf, findRecorded } from './events.ts';
import { insertWaiting } from './waiting-analyses.ts';

type ReleaseTools = { db: Db; excerpt: Excerpt };

/** Counts a response that was on hold, by hand: from now on it is like any other. */
export async function releaseResponse(tools: ReleaseTools, { orgId, actor }: Writer, id: string) {
  const held = await findRecorded(tools.db, id);
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
      throw new Refusal('conflict', 'this response has been replaced meanwhile');
    }
    await emit(tx, { orgId, events });
    if (later) await enqueue(tx, [later]);
    await completeIfAnswered(tx, { orgId }, surveyId);
    const target = { kind: 'response', id };
    await recordAct(tx, { orgId, actor, act: 'response.released', target });
    return { id, survey_id: surveyId, score };
  });
}

/** Releases those of many that are on hold, one after the other; returns how many of them there were. */
export async function releaseMany(tools: ReleaseTools, writer: Writer, ids: readonly string[]) {
  let released = 0;
  for (const id of new Set(ids)) {
    if (await tryRelease(tools, writer, id)) released += 1;
  }
  return released;
}

/** Releases one unless it is no longer on hold, or gone: then another member was quicker. Returns whether it did. */
export async function tryRelease(tools: ReleaseTools, writer: Writer, id: string) {
  try {
    await releaseResponse(tools, writer, id);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
