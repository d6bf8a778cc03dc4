import { likePattern, type Part, type Sql } from '../lib/db/db.ts';
import { addressPattern } from '../lib/smtp/address.ts';

/** Empties text answers and other texts. Options and scale values stay with the score. */
export async function eraseWords(sql: Sql, orgId: string, responseIds: readonly string[]) {
  await sql`
    update response_answers
    set answers = without_words(answers)
    where org_id = ${orgId} and response_id = any (${[...responseIds]}::uuid[]) and words is not null`;
}

/** All texts of the answers of a response `r`, or null. */
export const wordsOf = (sql: Sql): Part => sql`
  (select a.words from response_answers a where a.org_id = r.org_id and a.response_id = r.id)`;

/** True if response.completed of a response `r` may contain texts that were changed or removed since. */
export const isPublished = (sql: Sql): Part => sql`
  exists (
    select from response_answers a
    where a.org_id = r.org_id and a.response_id = r.id and a.completed_at is not null
  )`;

/** The ids of responses with texts that are older than `days` days. */
export const oldWords = (
  sql: Sql,
  orgId: string,
  { days, atMost }: Record<'days' | 'atMost', number>,
): Part => sql`
  select response_id
  from response_answers
  where org_id = ${orgId} and words is not null and saved_at < now() - make_interval(days => ${days}::int)
  order by saved_at
  limit ${atMost}`;

/** Replaces an address with `[email]` in text answers of other people. */
export async function hideInAnswers(
  sql: Sql,
  orgId: string,
  { key, before }: { key: string; before: Date | null },
): Promise<number> {
  const { count } = await sql`
    update response_answers
    set answers = hide_address(answers::text, ${key})::jsonb
    where org_id = ${orgId} and saved_at < coalesce(${before}::timestamptz, 'infinity')
      and words ilike ${likePattern(key)} and words ~* ${addressPattern(key)}`;
  return count;
}
