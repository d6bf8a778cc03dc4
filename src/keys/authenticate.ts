import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Actor, Writer } from '../audit/acts.ts';
import { errorCodes, Refusal } from '../errors.ts';
import { createBatch } from '../lib/async/batch.ts';
import { type Db, type Sql, whenDiskFull } from '../lib/db/db.ts';
import { inGroup, requestWaitMs } from '../lib/db/fair-pool.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import type { RequestEnv } from '../lib/http/http.ts';
import { acceptTrace } from '../lib/http/request-spans.ts';
import { rateLimited } from '../signals.ts';
import {
  type CountedRequest,
  type Credentials,
  countRequests,
  countSubject,
  type Permission,
  type RateCount,
} from './queries.ts';
import { parseKey, rateHeaders, unknownKeyLimit } from './rules.ts';

export type ApiEnv = RequestEnv & { Variables: { key: Key; actor: Actor } };
type Key = {
  id: string;
  org_id: string;
  name: string;
  permission: Permission;
  requestId?: string;
};

/** Proof that the key of a request may write. Only requireWrite() creates one. */
export type WriteKey = Key & { permission: 'write' } & Writer;

export type KeyTools = { db: Db; settings: { rateLimit: number } };

/** Authenticates by API key and applies the rate limit: per key, or per client address for unknown keys. */
export function authenticate({ db, settings }: KeyTools) {
  const count = async (requests: Credentials[]) => [...(await countRequests(db, requests))];
  const counts = createBatch(
    {
      keyOf: ({ key, address }: Credentials) => key?.publicId ?? address,
      write: count,
      writeKey: count,
    },
    { maxItems: 50, concurrency: 4 },
  );
  return createMiddleware<ApiEnv>(async (c, next) => {
    const counted = await counts.add({
      key: parseKey(c.req.header('x-api-key') ?? bearerOf(c.req.header('authorization'))),
      address: clientAddress(c),
    });
    const key = accept(c, settings, counted);
    const work = async () => {
      // Once a minute is enough for "last used".
      if (counted.used === 1) {
        const noted = db`
          update api_keys set last_used_at = now() where org_id = ${key.org_id} and id = ${key.id}`;
        await noted.catch(whenDiskFull(() => undefined));
      }
      await next();
    };
    await inGroup(key.org_id, work, { waitMs: requestWaitMs });
  });
}

const bearerOf = (authorization = '') => /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '';

/** Sets the rate-limit headers and returns the key, or refuses the request. */
function accept(
  c: Context<ApiEnv>,
  { rateLimit }: KeyTools['settings'],
  { used, resets_in_seconds, ...row }: CountedRequest,
): Key {
  const isKnown = row.id !== null;
  // A shared cache must not give one caller's response to another.
  c.header('Cache-Control', 'no-store');
  const headers = rateHeaders(isKnown, { rateLimit, used, resets_in_seconds });
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  const quota = isKnown ? rateLimit : unknownKeyLimit;
  if (used > quota) {
    rateLimited.publish({ by: isKnown ? 'key' : 'address' });
    throw overLimit(quota, { used, resets_in_seconds });
  }
  if (!isKnown) {
    c.header('WWW-Authenticate', 'Bearer realm="askback"');
    throw new Refusal('unauthorized', errorCodes.unauthorized.error);
  }
  const key = { ...row, requestId: c.get('requestId') };
  c.set('key', key);
  c.set('actor', actorOfKey(key));
  c.set('tenant', row.org_id);
  acceptTrace(c);
  return key;
}

export function requireWrite(key: Key): WriteKey {
  const { permission } = key;
  if (permission === 'write') {
    return { ...key, permission, orgId: key.org_id, actor: actorOfKey(key), mayWrite: true };
  }
  throw new Refusal('forbidden', 'this API key has no write permission');
}

const actorOfKey = ({ id, name, requestId }: Key): Actor => ({ kind: 'key', id, name, requestId });

type AddressLimit = { scope: 'share'; address: string; quota: number };

/** Limits requests per client address and minute across all processes. */
export async function limitAddress(sql: Sql, { scope, address, quota }: AddressLimit) {
  const count = await countSubject(sql, `${scope}:${address}`);
  if (count.used > quota) {
    rateLimited.publish({ by: scope });
    throw overLimit(quota, count);
  }
}

function overLimit(quota: number, { resets_in_seconds }: RateCount): Refusal {
  const message = `rate limit exceeded: max ${quota} requests per minute`;
  return new Refusal('rate_limited', message, { retryInSeconds: resets_in_seconds });
}
