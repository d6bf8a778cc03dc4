import { one, type Sql } from '../lib/db/db.ts';
import type { KeyParts } from './rules.ts';

export type Permission = 'read' | 'write';

export type Count = {
  /** Requests of this subject in the current clock minute, this one included. */
  used: number;
  /** Until the next clock minute, by the database's clock. */
  resets_in_seconds: number;
};

/** The key, if there is a live one, and the count of the key or else of the address. */
export type CountedRequest = Count &
  ({ id: string; org_id: string; permission: Permission } | { id: null });

/**
 * Finds a live key and counts the request against its minute; without a live key, against the address
 * that it came from. One statement: no request can slip between the check and the count.
 */
export async function countRequest(
  sql: Sql,
  { key, address }: { key: KeyParts | undefined; address: string },
): Promise<CountedRequest> {
  return one(
    await sql<CountedRequest[]>`
      with live as (
        select id, org_id, permission
        from api_keys
        where public_id = ${key?.publicId ?? null}
          and secret_hash = ${key?.secretHash ?? null}
          and revoked_at is null
          and (expires_at is null or expires_at > now())
      ), counted as (
        insert into rate_windows as w (subject, minute, count)
        select coalesce((select 'key:' || id from live), 'unknown:' || ${address}),
               date_trunc('minute', now()), 1
        ${countOneMore(sql)}
      )
      select live.id, live.org_id, live.permission, counted.*
      from counted left join live on true`,
  );
}

/** Counts a request of anything that has a limit a minute, by a name of its own. */
export async function countSubject(sql: Sql, subject: string): Promise<Count> {
  return one(
    await sql<Count[]>`
      insert into rate_windows as w (subject, minute, count)
      values (${subject}, date_trunc('minute', now()), 1)
      ${countOneMore(sql)}`,
  );
}

/**
 * A statement that waited for the row since the last minute finds a newer window in it, and counts there:
 * a window never goes back.
 */
const countOneMore = (sql: Sql) => sql`
  on conflict (subject) do update
    set count = case when w.minute >= excluded.minute then w.count + 1 else 1 end,
        minute = greatest(w.minute, excluded.minute)
  returning count as used,
            ceil(extract(epoch from minute + interval '1 minute' - now()))::int as resets_in_seconds`;

export type NewKey = KeyParts & {
  name: string;
  permission: Permission;
  expires_at: Date | null;
};

export type KeyRow = {
  id: string;
  org_id: string;
  name: string;
  permission: Permission;
  expires_at: Date | null;
  revoked_at: Date | null;
  created_at: Date;
};

export async function insertKey(sql: Sql, orgId: string, key: NewKey): Promise<KeyRow> {
  return one(
    await sql<KeyRow[]>`
      insert into api_keys (org_id, name, public_id, secret_hash, permission, expires_at)
      values (${orgId}, ${key.name}, ${key.publicId}, ${key.secretHash}, ${key.permission}, ${key.expires_at})
      returning id, org_id, name, permission, expires_at, revoked_at, created_at`,
  );
}

/** A request as its caller named it, and what it asks for. */
export type NamedRequest = { keyId: string; name: string; requestHash: Buffer };

export type Asked = {
  /** Set when the name is ours to answer now. It tells our claim from one that takes it over later. */
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
): Promise<Asked> {
  return one(
    await sql<Asked[]>`
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

export type Claim = NamedRequest & { claimedAt: string };

export async function saveAnswer(
  sql: Sql,
  { keyId, name, claimedAt }: Claim,
  answer: { status: number; body: Buffer },
) {
  await sql`
    update idempotency_keys
    set status = ${answer.status},
        answer = ${answer.body}
    where key_id = ${keyId} and name = ${name} and created_at = ${claimedAt}::text::timestamptz`;
}

export async function releaseName(sql: Sql, { keyId, name, claimedAt }: Claim) {
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

/** A window counts for its own minute only; the rest is room for clocks that differ. */
export async function deleteOldRateWindows(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from rate_windows
    where subject in (
      select subject
      from rate_windows
      where minute < now() - interval '5 minutes'
      limit ${limit}
      for update skip locked
    )`;
  return count;
}
