import { changesOf, recordAct, type Writer } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import { type Db, inTransaction, one, type Sql, violates } from '../lib/db/db.ts';
import { maxNotes } from '../limits.ts';
import { memberOf } from './filter.queries.ts';

type FollowUpTools = { db: Db };

/** Undefined leaves a field unchanged, and null clears it. The owner is the address of a member. */
type FollowUpChange = {
  id: string;
  state?: 'open' | 'done' | null | undefined;
  owner?: string | null | undefined;
  /** The owner that the writer saw. If it has changed since, nothing is saved. */
  fromOwner?: string | null | undefined;
};

type FollowUpOutcome = 'saved' | 'owner_changed';

export async function followUp(
  { db }: FollowUpTools,
  { orgId, actor }: Writer,
  { id, state, owner, fromOwner }: FollowUpChange,
): Promise<FollowUpOutcome> {
  const ownerId = typeof owner === 'string' ? await findMember(db, orgId, owner) : null;
  if (ownerId === undefined) throw unknownMember();
  const seenOwnerId = fromOwner ? await findMember(db, orgId, fromOwner) : null;
  if (seenOwnerId === undefined) return 'owner_changed';
  return await inTransaction(db, async (tx): Promise<FollowUpOutcome> => {
    await lockResponse(tx, orgId, id);
    const before = await readFollowUp(tx, orgId, id);
    if (fromOwner !== undefined && before.owner !== seenOwnerId) return 'owner_changed';
    await tx`
      update responses
      set chosen_state = ${state === undefined ? tx`chosen_state` : (state ?? 'none')},
          owner_id = ${owner === undefined ? tx`owner_id` : ownerId}
      where org_id = ${orgId} and id = ${id}`;
    const after = await readFollowUp(tx, orgId, id);
    const changes = changesOf(
      { state: before.state, owner: before.owner },
      { state: after.state, owner: after.owner },
    );
    if (changes['owner']) changes['owner'] = { from: before.owner_name, to: after.owner_name };
    if (Object.keys(changes).length > 0) {
      const target = { kind: 'response', id };
      await recordAct(tx, { orgId, actor, act: 'response.changed', target, details: { changes } });
    }
    if (ownerId && ownerId !== actor.id) {
      const payload = { org_id: orgId, member_id: ownerId, response_id: id };
      await enqueue(tx, [{ task: 'notifications.assigned', payload }]);
    }
    return 'saved';
  }).catch((error: unknown) => {
    throw violates(error, 'responses_have_members_as_owners') ? unknownMember() : error;
  });
}

type FollowUpState = { state: string | null; owner: string | null; owner_name: string | null };

async function readFollowUp(sql: Sql, orgId: string, id: string) {
  return one(
    await sql<FollowUpState[]>`
      select r.state, r.owner_id as owner, m.name as owner_name
      from responses r
      left join members m on m.id = r.owner_id
      where r.org_id = ${orgId} and r.id = ${id}`,
  );
}

async function findMember(sql: Sql, orgId: string, email: string) {
  const [member] = await sql<{ id: string }[]>`${memberOf(sql, orgId, email)}`;
  return member?.id;
}

const unknownMember = () =>
  new Refusal('invalid', 'owner: no member of the organization has this address', {
    code: 'unknown_member',
  });

type ManyFollowed = { responseIds: readonly string[]; act: 'done' | 'open' | 'take' };

/** `take` assigns the responses to the member. Returns the number of responses. */
export async function followUpMany(
  { db }: FollowUpTools,
  { orgId, actor, memberId }: Writer & { memberId: string },
  { responseIds, act }: ManyFollowed,
): Promise<number> {
  return await inTransaction(db, async (tx) => {
    const ids = await lockResponses(tx, orgId, responseIds);
    await tx`
      update responses
      set ${act === 'take' ? tx`owner_id = ${memberId}` : tx`chosen_state = ${act}`}
      where org_id = ${orgId} and id = any(${ids}::uuid[])`;
    const details = { responses: ids.length, act };
    await recordAct(tx, { orgId, actor, act: 'responses.changed', details });
    return ids.length;
  });
}

type NoteRow = { id: string; text: string; author: string; created_at: Date };

export async function addNote(
  { db }: FollowUpTools,
  { orgId, actor }: Writer,
  { id, text }: { id: string; text: string },
): Promise<NoteRow> {
  return await inTransaction(db, async (tx) => {
    // Serializes concurrent requests, because together they could exceed the limit.
    await lockResponse(tx, orgId, id);
    const [{ count }] = await tx<[{ count: number }]>`
      select count(*)::int as count from response_notes where org_id = ${orgId} and response_id = ${id}`;
    if (count >= maxNotes) {
      throw new Refusal('invalid', `a response has at most ${maxNotes} notes`, {
        code: 'too_many_notes',
      });
    }
    const note = one(
      await tx<NoteRow[]>`
        insert into response_notes (org_id, response_id, text, author, author_kind)
        values (${orgId}, ${id}, ${text}, ${actor.name}, ${actor.kind})
        returning id, text, author, created_at`,
    );
    const target = { kind: 'response', id };
    await recordAct(tx, { orgId, actor, act: 'response.noted', target });
    return note;
  });
}

/** The contact keeps its status `responded`, so that it is not asked again. */
export async function deleteResponse({ db }: FollowUpTools, { orgId, actor }: Writer, id: string) {
  await inTransaction(db, async (tx) => {
    const [deleted] = await tx<{ survey_id: string; held: boolean }[]>`
      delete from responses
      where org_id = ${orgId} and id = ${id}
      returning survey_id, held_reason is not null as held`;
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
  await inTagTransaction(db, async (tx) => {
    await lockResponse(tx, orgId, id);
    const before = await listTagNames(tx, orgId, id);
    await tx`
      delete from response_tags
      where org_id = ${orgId} and response_id = ${id} and tag_id <> all(${[...tagIds]}::uuid[])`;
    await insertResponseTags(tx, orgId, { responseIds: [id], tagIds });
    const changes = changesOf({ tags: before }, { tags: await listTagNames(tx, orgId, id) });
    if (Object.keys(changes).length === 0) return;
    const target = { kind: 'response', id };
    await recordAct(tx, { orgId, actor, act: 'response.tagged', target, details: { changes } });
  });
}

async function listTagNames(sql: Sql, orgId: string, responseId: string) {
  const rows = await sql<{ name: string }[]>`
    select t.name
    from response_tags rt
    join tags t on t.org_id = rt.org_id and t.id = rt.tag_id
    where rt.org_id = ${orgId} and rt.response_id = ${responseId}
    order by t.name`;
  return rows.map(({ name }) => name);
}

type ManyTagged = { responseIds: readonly string[]; tagId: string; put: boolean };

/** Adds the tag if `put` is true, otherwise removes it. Returns the number of responses. */
export async function tagMany(
  { db }: FollowUpTools,
  { orgId, actor }: Writer,
  { responseIds: chosenIds, tagId, put }: ManyTagged,
): Promise<number> {
  return await inTagTransaction(db, async (tx) => {
    const responseIds = await lockResponses(tx, orgId, chosenIds);
    if (put) await insertResponseTags(tx, orgId, { responseIds, tagIds: [tagId] });
    else {
      await tx`
        delete from response_tags
        where org_id = ${orgId} and response_id = any(${responseIds}::uuid[]) and tag_id = ${tagId}`;
    }
    const details = { responses: responseIds.length, put };
    const target = { kind: 'tag', id: tagId };
    await recordAct(tx, { orgId, actor, act: 'responses.tagged', target, details });
    return responseIds.length;
  });
}

const inTagTransaction = <T>(db: Db, work: (tx: Sql) => Promise<T>): Promise<T> =>
  inTransaction(db, work).catch((error: unknown) => {
    if (!violates(error, 'response_tags_are_tags')) throw error;
    throw new Refusal('invalid', 'tags: one of them is not a tag of the organization', {
      code: 'unknown_tag',
    });
  });

type ResponseTags = { responseIds: readonly string[]; tagIds: readonly string[] };

async function insertResponseTags(sql: Sql, orgId: string, { responseIds, tagIds }: ResponseTags) {
  await sql`
    insert into response_tags (org_id, response_id, tag_id)
    select ${orgId}, response_id, tag_id
    from unnest(${[...responseIds]}::uuid[]) response_id, unnest(${[...tagIds]}::uuid[]) tag_id
    order by response_id, tag_id
    on conflict do nothing`;
}

/** Records no audit event, because the event of the reply says that the response is done. */
export async function markDone(sql: Sql, orgId: string, id: string) {
  await sql`update responses set chosen_state = 'done' where org_id = ${orgId} and id = ${id}`;
}

export async function lockResponse(sql: Sql, orgId: string, id: string) {
  const [locked] = await lockResponses(sql, orgId, [id]);
  if (!locked) throw notFound('response');
}

/** Locks in the order of ids to avoid deadlocks. */
export async function lockResponses(sql: Sql, orgId: string, ids: readonly string[]) {
  const rows = await sql<{ id: string }[]>`
    select id
    from responses
    where org_id = ${orgId} and id = any(${[...ids]}::uuid[])
    order by id
    for no key update`;
  return rows.map(({ id }) => id);
}
