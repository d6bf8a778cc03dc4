import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue, type NewJob } from '../jobs.ts';
import { type Db, violates } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { mostNotes } from '../limits.ts';
import {
  deleteResponseRow,
  type FollowUpChange,
  findOwner,
  insertNote,
  lockAndCountNotes,
  lockResponses,
  type NoteRow,
  updateFollowUp,
  updateFollowUps,
} from './follow-up.queries.ts';

type FollowUpTools = { db: Db };

/** What is given is set; null takes it away. The owner is named by the address of a member. */
export type FollowUpWish = {
  state?: 'open' | 'done' | null | undefined;
  owner?: string | null | undefined;
  /** The owner that the writer saw: once the response has another one, nothing is changed. */
  fromOwner?: string | null | undefined;
};

export type FollowUpOutcome = 'saved' | 'owner_changed';

/** Takes a response up, hands it to a member, or closes it. */
export async function followUp(
  { db }: FollowUpTools,
  { orgId, actor }: Writer,
  { id, state, owner, fromOwner }: FollowUpWish & { id: string },
): Promise<FollowUpOutcome> {
  const change: FollowUpChange = {
    chosen_state: state === null ? 'none' : state,
    owner_id: typeof owner === 'string' ? await memberWith(db, orgId, owner) : owner,
  };
  const fields = [state !== undefined && 'state', owner !== undefined && 'owner'];
  const from_owner_id = fromOwner ? await findOwner(db, orgId, fromOwner) : fromOwner;
  if (fromOwner && !from_owner_id) return 'owner_changed';
  return await inTransaction(db, async (tx): Promise<FollowUpOutcome> => {
    if (!(await updateFollowUp(tx, orgId, { id, ...change, from_owner_id }))) {
      const [known] = await lockResponses(tx, orgId, [id]);
      if (!known) throw notFound('response');
      return 'owner_changed';
    }
    await recordAct(tx, {
      orgId,
      actor,
      act: 'response.changed',
      target: { kind: 'response', id },
      details: { fields: fields.filter((field) => field !== false), state: state ?? null },
    });
    const memberId = change.owner_id;
    if (memberId && memberId !== actor.id) await enqueue(tx, [assigned(orgId, memberId, id)]);
    return 'saved';
  }).catch((error: unknown) => {
    throw violates(error, 'responses_have_members_as_owners') ? noMember() : error;
  });
}

/** What a member can do with many responses at once. */
export type ManyFollowed = { responseIds: readonly string[]; act: 'done' | 'open' | 'take' };

/** Closes many responses, opens them again, or takes them up; returns how many of them there are. */
export async function followUpMany(
  { db }: FollowUpTools,
  { orgId, actor, memberId }: Writer & { memberId: string },
  { responseIds: ids, act }: ManyFollowed,
): Promise<number> {
  const change: FollowUpChange = act === 'take' ? { owner_id: memberId } : { chosen_state: act };
  return await inTransaction(db, async (tx) => {
    const responses = await updateFollowUps(tx, orgId, { ids, ...change });
    const details = { responses, act };
    await recordAct(tx, { orgId, actor, act: 'responses.changed', details });
    return responses;
  });
}

const assigned = (org_id: string, member_id: string, response_id: string): NewJob => ({
  task: 'notifications.assigned',
  payload: { org_id, member_id, response_id },
});

async function memberWith(db: Db, orgId: string, email: string): Promise<string> {
  const found = await findOwner(db, orgId, email);
  if (!found) throw noMember();
  return found;
}

const noMember = () =>
  new Refusal('invalid', 'owner: no member of the organization has this address', {
    code: 'unknown_member',
  });

export async function addNote(
  { db }: FollowUpTools,
  { orgId, actor }: Writer,
  { id, text }: { id: string; text: string },
): Promise<NoteRow> {
  return await inTransaction(db, async (tx) => {
    if ((await lockAndCountNotes(tx, orgId, id)) >= mostNotes) throw tooManyNotes();
    const note = await insertNote(tx, orgId, { responseId: id, text, actor });
    const target = { kind: 'response', id };
    await recordAct(tx, { orgId, actor, act: 'response.noted', target });
    return note;
  });
}

const tooManyNotes = () =>
  new Refusal('invalid', `a response has at most ${mostNotes} notes`, { code: 'too_many_notes' });

/** Deletes a response for good. Its contact stays one that has answered, and is not asked again. */
export async function deleteResponse({ db }: FollowUpTools, { orgId, actor }: Writer, id: string) {
  await inTransaction(db, async (tx) => {
    const deleted = await deleteResponseRow(tx, orgId, id);
    if (!deleted) throw notFound('response');
    const target = { kind: 'response', id };
    await recordAct(tx, { orgId, actor, act: 'response.deleted', target, details: deleted });
  });
}
