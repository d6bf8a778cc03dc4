import { type Db, likePattern, type Sql } from '../lib/db/db.ts';
import { deleteInBatches } from '../lib/db/delete-in-batches.ts';
import { addressPattern } from '../lib/smtp/address.ts';
import { maxLogDays } from '../organizations/manage.ts';
import { isPublished, oldWords, wordsOf } from '../questions/erase.ts';

export type ErasedResponse = {
  id: string;
  comment: string | null;
  /** All texts of its answers to follow-up questions. */
  words: string | null;
  /** True if the answers were published. Their texts may have changed since. */
  published: boolean;
  created_at: Date;
};

type ResponsesToErase = {
  contactIds: readonly string[];
  /** An address in lower case. */
  key: string;
  /** Limits the erasure to texts that were written earlier. Null for all texts. */
  before: Date | null;
};

/** Locks the responses of contacts, and responses without a contact whose properties contain the address. */
export async function lockResponsesOf(
  sql: Sql,
  orgId: string,
  {
    contactIds,
    key,
    before = null,
  }: Pick<ResponsesToErase, 'contactIds'> & Partial<ResponsesToErase>,
) {
  const named =
    key === undefined
      ? sql``
      : sql`
       or org_id = ${orgId} and contact_id is null and properties::text like '%@%'
         and created_at < coalesce(${before}::timestamptz, 'infinity')
         and properties::text ~* ${addressPattern(key)}`;
  return await sql<ErasedResponse[]>`
    select id, comment, ${wordsOf(sql)} as words, ${isPublished(sql)} as published, created_at
    from responses r
    where org_id = ${orgId} and contact_id = any (${[...contactIds]}::uuid[]) ${named}
    order by id
    for update`;
}

/** Responses with a comment or text answers to delete. Includes responses on hold. */
export async function lockOldComments(
  sql: Sql,
  orgId: string,
  { days, atMost }: { days: number; atMost: number },
) {
  const old = sql`
    org_id = ${orgId} and comment is not null and created_at < now() - make_interval(days => ${days}::int)`;
  return await sql<ErasedResponse[]>`
    -- organization: caller
    select id, comment, ${wordsOf(sql)} as words, ${isPublished(sql)} as published, created_at
    from responses r
    where org_id = ${orgId} and id in (
      (select id from responses where ${old} and held_reason is null order by created_at limit ${atMost})
      union all
      (select id from responses where ${old} and held_reason is not null order by created_at limit ${atMost})
      union
      (${oldWords(sql, orgId, { days, atMost })})
    )
    order by id
    limit ${atMost}
    for update`;
}

export async function emptyComments(sql: Sql, orgId: string, ids: readonly string[]) {
  await sql`
    update responses
    set comment = null
    where org_id = ${orgId} and id = any (${[...ids]}::uuid[])`;
}

/** Keeps only the scores, with no link to the person. */
export async function makeAnonymous(sql: Sql, orgId: string, ids: readonly string[]) {
  await sql`
    update responses
    set contact_id = null, comment = null, properties = null, traceparent = null
    where org_id = ${orgId} and id = any (${[...ids]}::uuid[])`;
}

export async function deleteResponses(sql: Sql, orgId: string, ids: readonly string[]) {
  await sql`delete from responses where org_id = ${orgId} and id = any (${[...ids]}::uuid[])`;
}

export async function deleteNotesAbout(sql: Sql, orgId: string, responseIds: readonly string[]) {
  const { count } = await sql`
    delete from response_notes
    where org_id = ${orgId} and response_id = any (${[...responseIds]}::uuid[])`;
  return count;
}

/** Replaces an address with `[email]` in comments and notes about other people. */
export async function hideAddress(
  sql: Sql,
  orgId: string,
  { key, before }: Pick<ResponsesToErase, 'key' | 'before'>,
): Promise<number> {
  const isOld = sql`created_at < coalesce(${before}::timestamptz, 'infinity')`;
  const pattern = addressPattern(key);
  const comments = await sql`
    update responses
    set comment = hide_address(comment, ${key})
    where org_id = ${orgId} and ${isOld}
      and comment ilike ${likePattern(key)} and comment ~* ${pattern}`;
  const notes = await sql`
    update response_notes
    set text = hide_address(text, ${key})
    where org_id = ${orgId} and ${isOld} and text ~* ${pattern}`;
  return comments.count + notes.count;
}

/** Replaces an address with `[email]` in properties of other people's responses. */
export async function hideInProperties(
  sql: Sql,
  orgId: string,
  { key, before }: Pick<ResponsesToErase, 'key' | 'before'>,
): Promise<number> {
  const { count } = await sql`
    update responses
    set properties = hide_address(properties::text, ${key})::jsonb
    where org_id = ${orgId} and created_at < coalesce(${before}::timestamptz, 'infinity')
      and properties::text like '%@%' and properties::text ~* ${addressPattern(key)}`;
  return count;
}

/** Old visits are not needed: the hold reason is stored with the response. */
export const cleanUpVisits = ({ db }: { db: Db }) =>
  deleteInBatches(async (atMost) => {
    const days = maxLogDays;
    const { count } = await db`
      -- all organizations
      delete from link_visits
      where (contact_id, visited_at, id) in (
        select contact_id, visited_at, id
        from link_visits
        where ${dayOfVisit(db)} <= ${dayAgo(db, days)} and visited_at < now() - make_interval(days => ${days}::int)
        order by ${dayOfVisit(db)}
        limit ${atMost}
        for update skip locked
      )`;
    return count;
  });

type DaysAgo = { fromDaysAgo: number; toDaysAgo: number };

export async function deleteVisitsOf(
  sql: Sql,
  orgId: string,
  { fromDaysAgo, toDaysAgo }: DaysAgo,
): Promise<number> {
  const { count } = await sql`
    delete from link_visits
    where org_id = ${orgId}
      and ${dayOfVisit(sql)} >= ${dayAgo(sql, fromDaysAgo)} and ${dayOfVisit(sql)} <= ${dayAgo(sql, toDaysAgo)}
      and visited_at >= now() - make_interval(days => ${fromDaysAgo}::int)
      and visited_at < now() - make_interval(days => ${toDaysAgo}::int)`;
  return count;
}

/** The index is on days, not on times. */
const dayOfVisit = (sql: Sql) => sql`(visited_at at time zone 'UTC')::date`;

const dayAgo = (sql: Sql, days: number) =>
  sql`((now() - make_interval(days => ${days}::int)) at time zone 'UTC')::date`;
