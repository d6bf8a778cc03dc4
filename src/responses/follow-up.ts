import { type Actor, recordAct, type Writer } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue, type NewJob } from '../jobs.ts';
import { type Db, inTransaction, one, type Sql, violates } from '../lib/db/db.ts';
import { mostNotes } from '../limits.ts';
import { memberOf } from './filter.queries.ts';

type FollowUpTools = { db: Db };

/** Undefined leaves a field as it is, null clears it. The owner is the address of a member. */
type FollowUpWish = {
  state?: 'open' | 'done' | null | undefined;
  owner?: string | null | undefined;
  /** The owner that the writer saw: once the response has another one, nothing is changed. */
  fromOwner?: string | null | undefined;
};

type FollowUpOutcome = 'saved' | 'owner_changed';

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

type ManyFollowed = { responseIds: readonly string[]; act: 'done' | 'open' | 'take' };

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

export async function setTags(
  { db }: FollowUpTools,
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

type ManyTagged = { responseIds: readonly string[]; tagId: string; put: boolean };

/** Puts a tag on many responses, or takes it away; returns how many of them there are. */
export async function tagMany(
  { db }: FollowUpTools,
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

/** `undefined` leaves a field as it is. */
type FollowUpChange = {
  chosen_state?: 'open' | 'done' | 'none' | undefined;
  owner_id?: string | null | undefined;
};

/** With `from_owner_id` only while the response still has this owner, or none. */
async function updateFollowUp(
  sql: Sql,
  orgId: string,
  change: FollowUpChange & { id: string; from_owner_id?: string | null | undefined },
): Promise<boolean> {
  const { id, chosen_state, owner_id, from_owner_id } = change;
  const stillOwned =
    from_owner_id === undefined ? sql`` : sql`and owner_id is not distinct from ${from_owner_id}`;
  const rows = await sql`
    update responses
    set chosen_state = ${chosen_state === undefined ? sql`chosen_state` : chosen_state},
        owner_id = ${owner_id === undefined ? sql`owner_id` : owner_id}
    where org_id = ${orgId} and id = ${id} ${stillOwned}
    returning id`;
  return rows.length > 0;
}

/** Locks the rows in the order of their ids; returns how many there were. */
export async function updateFollowUps(
  sql: Sql,
  orgId: string,
  { ids, chosen_state, owner_id }: FollowUpChange & { ids: readonly string[] },
): Promise<number> {
  const { count } = await sql`
    with chosen as (
      select id
      from responses
      where org_id = ${orgId} and id = any(${ids as string[]}::uuid[])
      order by id
      for no key update
    )
    update responses r
    set chosen_state = ${chosen_state === undefined ? sql`r.chosen_state` : chosen_state},
        owner_id = ${owner_id === undefined ? sql`r.owner_id` : owner_id}
    from chosen
    where r.org_id = ${orgId} and r.id = chosen.id`;
  return count;
}

async function findOwner(sql: Sql, orgId: string, email: string) {
  const [member] = await sql<{ id: string }[]>`${memberOf(sql, orgId, email)}`;
  return member?.id;
}

/** Locks the response, so that its notes are counted one at a time. */
async function lockAndCountNotes(sql: Sql, orgId: string, responseId: string) {
  const locked = await sql`
    select from responses where org_id = ${orgId} and id = ${responseId} for no key update`;
  if (locked.length === 0) throw notFound('response');
  return one(
    await sql<{ count: number }[]>`
      select count(*)::int as count
      from response_notes
      where org_id = ${orgId} and response_id = ${responseId}`,
  ).count;
}

type NoteRow = { id: string; text: string; author: string; created_at: Date };

async function insertNote(
  sql: Sql,
  orgId: string,
  { responseId, text, actor }: { responseId: string; text: string; actor: Actor },
): Promise<NoteRow> {
  return one(
    await sql<NoteRow[]>`
      insert into response_notes (org_id, response_id, text, author, author_kind)
      values (${orgId}, ${responseId}, ${text}, ${actor.name}, ${actor.kind})
      returning id, text, author, created_at`,
  );
}

/** Locks the organization's responses against being deleted or tagged meanwhile. */
export async function lockResponses(sql: Sql, orgId: string, ids: readonly string[]) {
  const rows = await sql<{ id: string }[]>`
    select id
    from responses
    where org_id = ${orgId} and id = any(${ids as string[]}::uuid[])
    order by id
    for no key update`;
  return rows.map(({ id }) => id);
}

type TagChange = { responseIds: readonly string[]; tagIds: readonly string[] };

async function insertResponseTags(sql: Sql, orgId: string, { responseIds, tagIds }: TagChange) {
  await sql`
    insert into response_tags (org_id, response_id, tag_id)
    select ${orgId}, response_id, tag_id
    from unnest(${responseIds as string[]}::uuid[]) response_id, unnest(${tagIds as string[]}::uuid[]) tag_id
    order by response_id, tag_id
    on conflict do nothing`;
}

/** Takes tags away: these, or with `except` all others. */
async function deleteResponseTags(
  sql: Sql,
  orgId: string,
  { responseIds, tagIds, except }: TagChange & { except: boolean },
) {
  await sql`
    delete from response_tags
    where org_id = ${orgId} and response_id = any(${responseIds as string[]}::uuid[])
      and (tag_id = any(${tagIds as string[]}::uuid[])) is ${except ? sql`false` : sql`true`}`;
}

async function deleteResponseRow(sql: Sql, orgId: string, id: string) {
  const [row] = await sql<{ survey_id: string; held: boolean }[]>`
    delete from responses
    where org_id = ${orgId} and id = ${id}
    returning survey_id, held_reason is not null as held`;
  return row;
}
