import type { Sql } from '../lib/db/db.ts';

export type StoredAnswer = { key_id: string; name: string; answer: Buffer };

/** Stored answers of all keys of an organization, some at a time. */
export async function listAnswers(
  sql: Sql,
  orgId: string,
  { after, atMost }: { after: Omit<StoredAnswer, 'answer'> | null; atMost: number },
) {
  return await sql<StoredAnswer[]>`
    select i.key_id, i.name, i.answer
    from api_keys k
    join idempotency_keys i on i.key_id = k.id
    where k.org_id = ${orgId} and i.answer is not null
      ${after ? sql`and (i.key_id, i.name) > (${after.key_id}::uuid, ${after.name})` : sql``}
    order by i.key_id, i.name
    limit ${atMost}`;
}

/** The names of these requests are free again. */
export async function deleteAnswers(
  sql: Sql,
  orgId: string,
  answers: readonly Omit<StoredAnswer, 'answer'>[],
): Promise<number> {
  const { count } = await sql`
    delete from idempotency_keys i
    using unnest(${answers.map(({ key_id }) => key_id)}::uuid[],
                 ${answers.map(({ name }) => name)}::text[]) as of (key_id, name)
    where i.key_id = of.key_id and i.name = of.name
      and exists (select from api_keys where id = i.key_id and org_id = ${orgId})`;
  return count;
}
