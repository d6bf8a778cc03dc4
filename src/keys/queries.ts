import { orNotFound } from '../errors.ts';
import { one, type Part, type Sql, whenDiskFull } from '../lib/db/db.ts';
import type { KeyParts } from './rules.ts';

export type Permission = 'read' | 'write';

/** The live key, if any, and the count for the key or else for the client address. */
export type CountedRequest = RateCount &
  ({ id: string; org_id: string; name: string; permission: Permission } | { id: null });

export type Credentials = { key: KeyParts | undefined; address: string };

/**
 * Finds the live key of each request, if any. Counts the request for the key, or else for the client address. A
 * single statement leaves no gap between the check and the count. If the disk is full, the requests pass uncounted.
 */
export async function countRequests(sql: Sql, requests: readonly Credentials[]) {
  const publicIds = requests.map(({ key }) => key?.publicId ?? '');
  const hashes = requests.map(({ key }) => key?.secretHash.toString('hex') ?? '');
  const addresses = requests.map(({ address }) => address);
  const find = async (counted: Part) =>
    await sql<CountedRequest[]>`
      -- all organizations
      with requests as materialized (
        select n, id, org_id, name, permission, coalesce('key:' || id, 'unknown:' || address) as subject
        from unnest(${publicIds}::text[], ${hashes}::text[], ${addresses}::text[])
          with ordinality as request (public_id, hash, address, n)
        left join api_keys as k
          on k.public_id = request.public_id
          and k.secret_hash = decode(request.hash, 'hex')
          and k.revoked_at is null
          and (k.expires_at is null or k.expires_at > now())
      ), counted as (${counted})
      select id, org_id, name, permission, resets_in_seconds,
             (used - count(*) over of_subject + row_number() over (of_subject order by n))::int as used
      from requests
      join counted using (subject)
      window of_subject as (partition by subject)
      order by n`;
  return await find(sql`
    insert into rate_windows as w (subject, minute, count)
    select subject, date_trunc('minute', now()), count(*) from requests group by subject order by subject
    ${incrementWindow(sql)}, subject
  `).catch(
    whenDiskFull(() =>
      find(sql`select distinct subject, 0 as used, 60 as resets_in_seconds from requests`),
    ),
  );
}

export type KeyRow = {
  id: string;
  org_id: string;
  name: string;
  permission: Permission;
  expires_at: Date | null;
  revoked_at: Date | null;
  created_at: Date;
};

export type ListedKey = KeyRow & { public_id: string; last_used_at: Date | null };

const fields = (sql: Sql) => sql`
  id, org_id, name, permission, expires_at, revoked_at, created_at, public_id, last_used_at`;

/** Includes revoked and expired keys. */
export async function listKeys(sql: Sql, orgId: string): Promise<ListedKey[]> {
  return await sql<ListedKey[]>`
    select ${fields(sql)}
    from api_keys
    where org_id = ${orgId}
    order by created_at desc, id desc`;
}

export async function getKey(sql: Sql, orgId: string, id: string): Promise<ListedKey> {
  const [key] = await sql<ListedKey[]>`
    select ${fields(sql)} from api_keys where org_id = ${orgId} and id = ${id}`;
  return orNotFound(key, 'key');
}

/** Returns undefined if the key is unknown or already revoked. */
export async function revokeLiveKey(sql: Sql, orgId: string, id: string) {
  const [row] = await sql<ListedKey[]>`
    update api_keys
    set revoked_at = now()
    where org_id = ${orgId} and id = ${id} and revoked_at is null
    returning ${fields(sql)}`;
  return row;
}

export type RateCount = {
  /** Requests in the current clock minute, including this one. */
  used: number;
  /** Seconds until the next minute by the database's clock. */
  resets_in_seconds: number;
};

/** Counts a request in the current minute of a subject. */
export async function countSubject(sql: Sql, subject: string): Promise<RateCount> {
  return one(
    await sql<RateCount[]>`
      insert into rate_windows as w (subject, minute, count)
      values (${subject}, date_trunc('minute', now()), 1)
      ${incrementWindow(sql)}`,
  );
}

/** A statement that waited for the row lock may find a newer window and counts in it, because windows never go back. */
const incrementWindow = (sql: Sql) => sql`
  on conflict (subject) do update
    set count = case when w.minute >= excluded.minute then w.count + excluded.count else excluded.count end,
        minute = greatest(w.minute, excluded.minute)
  returning count as used,
            ceil(extract(epoch from minute + interval '1 minute' - now()))::int as resets_in_seconds`;
