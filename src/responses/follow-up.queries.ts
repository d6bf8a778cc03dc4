import type { Actor } from '../audit/actor.ts';
import { notFound } from '../errors.ts';
import { one, type Sql } from '../lib/db/db.ts';
import { memberOf } from './filter.cte.ts';

/** `undefined` leaves a field as it is. */
export type FollowUpChange = {
  chosen_state?: 'open' | 'done' | 'none' | undefined;
  owner_id?: string | null | undefined;
};

/** With `from_owner_id` only while the response still has this owner, or none. */
export async function updateFollowUp(
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

/** The same of many; returns how many there were. Their rows are locked in the order of their ids. */
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

export async function findOwner(sql: Sql, orgId: string, email: string) {
  const [member] = await sql<{ id: string }[]>`${memberOf(sql, orgId, email)}`;
  return member?.id;
}

/** Locks the response, so that its notes are counted one at a time. */
export async function lockAndCountNotes(sql: Sql, orgId: string, responseId: string) {
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

export type NoteRow = { id: string; text: string; author: string; created_at: Date };

export async function insertNote(
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

/** Those of the responses that are the organization's, locked against being deleted or tagged by others meanwhile. */
export async function lockResponses(sql: Sql, orgId: string, ids: readonly string[]) {
  const rows = await sql<{ id: string }[]>`
    select id
    from responses
    where org_id = ${orgId} and id = any(${ids as string[]}::uuid[])
    order by id
    for no key update`;
  return rows.map(({ id }) => id);
}

export async function insertResponseTags(
  sql: Sql,
  orgId: string,
  { responseIds, tagIds }: { responseIds: readonly string[]; tagIds: readonly string[] },
) {
  await sql`
    insert into response_tags (org_id, response_id, tag_id)
    select ${orgId}, response_id, tag_id
    from unnest(${responseIds as string[]}::uuid[]) response_id, unnest(${tagIds as string[]}::uuid[]) tag_id
    order by response_id, tag_id
    on conflict do nothing`;
}

/** Takes tags away: these, or with `except` all others. */
export async function deleteResponseTags(
  sql: Sql,
  orgId: string,
  {
    responseIds,
    tagIds,
    except,
  }: { responseIds: readonly string[]; tagIds: readonly string[]; except: boolean },
) {
  await sql`
    delete from response_tags
    where org_id = ${orgId} and response_id = any(${responseIds as string[]}::uuid[])
      and (tag_id = any(${tagIds as string[]}::uuid[])) is ${except ? sql`false` : sql`true`}`;
}

export async function deleteResponseRow(sql: Sql, orgId: string, id: string) {
  const [row] = await sql<{ survey_id: string; held: boolean }[]>`
    delete from responses
    where org_id = ${orgId} and id = ${id}
    returning survey_id, held_reason is not null as held`;
  return row;
}
