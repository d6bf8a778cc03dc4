import { one, type Sql } from '../platform/db.ts';
import type { KeyParts } from './rules.ts';

export type Permission = 'read' | 'write';

export type CountedKey = {
  id: string;
  org_id: string;
  permission: Permission;
  /** Requests of this key in the current clock minute, this one included. */
  used: number;
  /** Until the next clock minute, by the database's clock. */
  resets_in_seconds: number;
};

/** Finds a live key and counts the request against its minute, in one statement. */
export async function countRequest(sql: Sql, { publicId, secretHash }: KeyParts) {
  const [row] = await sql<CountedKey[]>`
    with live as (
      select id, org_id, permission
      from api_keys
      where public_id = ${publicId}
        and secret_hash = ${secretHash}
        and revoked_at is null
        and (expires_at is null or expires_at > now())
    ), counted as (
      insert into rate_windows as w (subject, minute, count)
      select 'key:' || id, date_trunc('minute', now()), 1
      from live
      on conflict (subject) do update
        set count = case when w.minute >= excluded.minute then w.count + 1 else 1 end,
            minute = greatest(w.minute, excluded.minute)
      returning count
    )
    select live.*, counted.count as used,
           60 - floor(extract(second from now()))::int as resets_in_seconds
    from live, counted`;
  return row;
}

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
