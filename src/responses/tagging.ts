import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Db, type Sql, violates } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { deleteResponseTags, insertResponseTags, lockResponses } from './follow-up.queries.ts';

type TaggingTools = { db: Db };

/** Gives a response exactly these tags. */
export async function setTags(
  { db }: TaggingTools,
  { orgId, actor }: Writer,
  { id, tagIds }: { id: string; tagIds: readonly string[] },
) {
  await changingTags(db, async (tx) => {
    const [locked] = await lockResponses(tx, orgId, [id]);
    if (!locked) throw notFound('response');
    await deleteResponseTags(tx, orgId, { responseIds: [id], tagIds, except: true });
    await insertResponseTags(tx, orgId, { responseIds: [id], tagIds });
    const target = { kind: 'response', id };
    await recordAct(tx, {
      orgId,
      actor,
      act: 'response.tagged',
      target,
      details: { tags: tagIds },
    });
  });
}

export type ManyTagged = { responseIds: readonly string[]; tagId: string; put: boolean };

/** Puts a tag on many responses, or takes it away; returns how many of them there are. */
export async function tagMany(
  { db }: TaggingTools,
  { orgId, actor }: Writer,
  { responseIds, tagId, put }: ManyTagged,
): Promise<number> {
  return await changingTags(db, async (tx) => {
    const found = await lockResponses(tx, orgId, responseIds);
    const change = { responseIds: found, tagIds: [tagId] };
    if (put) await insertResponseTags(tx, orgId, change);
    else await deleteResponseTags(tx, orgId, { ...change, except: false });
    const details = { responses: found.length, put };
    const target = { kind: 'tag', id: tagId };
    await recordAct(tx, { orgId, actor, act: 'responses.tagged', target, details });
    return found.length;
  });
}

const changingTags = <T>(db: Db, work: (tx: Sql) => Promise<T>): Promise<T> =>
  inTransaction(db, work).catch((error: unknown) => {
    if (!violates(error, 'response_tags_are_tags')) throw error;
    throw new Refusal('invalid', 'tags: one of them is not a tag of the organization', {
      code: 'unknown_tag',
    });
  });
