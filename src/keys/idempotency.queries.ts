import { one, type Sql } from '../lib/db/db.ts';

/** A request as its caller named it, and what it asks for. */
export type NamedRequest = { keyId: string; name: string; requestHash: Buffer };

export type NameClaim = {
  /** Set when this request has the name now. It distinguishes this claim from one that takes the name over later. */
  claimed_at: string | null;
  same_request: boolean | null;
  status: number | null;
  /** Sealed. */
  answer: Buffer | null;
};

/**
 * Takes a name for this request, unless another has it: one that was answered less than a day ago, or
 * one that is running. What is still running after `runningSeconds` has died, and its name is free again.
 */
export async function claimName(
  sql: Sql,
  { keyId, name, requestHash }: NamedRequest,
  runningSeconds: number,
): Promise<NameClaim> {
  return one(
    await sql<NameClaim[]>`
      with claimed as (
        insert into idempotency_keys as i (key_id, name, request_hash)
        values (${keyId}, ${name}, ${requestHash})
        on conflict (key_id, name) do update
          set request_hash = excluded.request_hash,
              status = null,
              answer = null,
              created_at = excluded.created_at
          where i.created_at < now() - interval '24 hours'
             or (i.status is null
                 and i.request_hash = excluded.request_hash
                 and i.created_at < now() - make_interval(secs => ${runningSeconds}))
        returning created_at::text as claimed_at
      ), before as (
        select request_hash = ${requestHash} as same_request, status, answer
        from idempotency_keys
        where key_id = ${keyId} and name = ${name}
      )
      select claimed_at, same_request, status, answer
      from (values (1)) as always
      left join claimed on true
      left join before on claimed_at is null`,
  );
}

export type ClaimedName = NamedRequest & { claimedAt: string };

/** What a key may store in answers that are larger than this. The number of the others is bounded by its rate limit. */
const smallAnswer = 1024;
const storedBytesPerKey = 64 * 1024 * 1024;

/** Stores an answer, or only its status once the key has stored as much as it may. */
export async function saveAnswer(
  sql: Sql,
  { keyId, name, claimedAt }: ClaimedName,
  answer: { status: number; body: Buffer | null },
) {
  const bytes = answer.body?.length ?? 0;
  const hasRoom =
    bytes <= smallAnswer
      ? sql`true`
      : sql`${bytes}::int <= ${storedBytesPerKey}::int - (
          select coalesce(sum(answer_bytes), 0)
          from idempotency_keys
          where key_id = ${keyId} and answer_bytes > 1024
        )`;
  await sql`
    update idempotency_keys
    set status = ${answer.status},
        answer = case when ${hasRoom} then ${answer.body}::bytea end
    where key_id = ${keyId} and name = ${name} and created_at = ${claimedAt}::text::timestamptz`;
}

export async function releaseName(sql: Sql, { keyId, name, claimedAt }: ClaimedName) {
  await sql`
    delete from idempotency_keys
    where key_id = ${keyId} and name = ${name} and created_at = ${claimedAt}::text::timestamptz`;
}

/** A stored answer is replayed for 24 hours. */
export async function deleteOldIdempotencyKeys(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from idempotency_keys
    where (key_id, name) in (
      select key_id, name
      from idempotency_keys
      where created_at < now() - interval '24 hours'
      limit ${limit}
      for update skip locked
    )`;
  return count;
}
