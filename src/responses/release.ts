import { notFound, Refusal } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { completeIfAnswered, holdForCompletion } from '../surveys/complete.ts';
import { emit } from '../webhooks/emit.cte.ts';
import type { Excerpt } from './answer.ts';
import { eventsOf } from './record.ts';
import { findHeld, releaseHeld } from './release.queries.ts';

type ReleaseTools = { db: Db; excerpt: Excerpt };

/** Lets a held answer count after all, by hand: from now on it is like any other. */
export async function releaseAnswer({ db, excerpt }: ReleaseTools, id: string) {
  const held = await findHeld(db, id);
  if (!held) throw notFound('response');
  if (held.held_reason === null) {
    throw new Refusal('conflict', 'this answer is not held: it counts already');
  }
  const known = { names: held.known_names, emails: held.known_addresses };
  const isDetractor = held.category === 'detractor';
  const told = isDetractor && held.comment ? await excerpt(held.comment, known) : null;
  const { org_id: orgId, survey_id: surveyId, type: surveyType, created_at: at } = held;
  const events = eventsOf(held, { ...held, surveyId, surveyType, excerpt: told, at });

  return await inTransaction(db, async (tx) => {
    await holdForCompletion(tx, orgId, surveyId);
    const released = await releaseHeld(tx, held);
    if (!released) throw new Refusal('conflict', 'this answer has been replaced meanwhile');
    await emit(tx, { orgId, events });
    await completeIfAnswered(tx, { orgId }, surveyId);
    return { id, survey_id: surveyId, score: held.score };
  });
}
