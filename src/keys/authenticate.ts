import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Actor, Writer } from '../audit/acts.ts';
import { Refusal } from '../errors.ts';
import { type Db, type Sql, whenFull } from '../lib/db/db.ts';
import { inGroup, requestWaitMs } from '../lib/db/fair-pool.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import type { RequestEnv } from '../lib/http/http.ts';
import { acceptTrace } from '../lib/http/request-spans.ts';
import { rateLimited } from '../signals.ts';
import {
  type CountedRequest,
  countRequest,
  countSubject,
  type Permission,
  type RateCount,
  touchKey,
} from './queries.ts';
import { rateHeaders, readKey, unknownKeyLimit } from './rules.ts';

export type ApiEnv = RequestEnv & { Variables: { key: Key; actor: Actor } };
type Key = {
  id: string;
  org_id: string;
  name: string;
  permission: Permission;
  requestId?: string;
};

/** Proof that the key behind a request may write. Only requireWrite() makes one. */
export type WriteKey = Key & { permission: 'write' } & Writer;

export type KeyTools = { db: Db; settings: { rateLimit: number } };

/**
 * Accepts a request with a live key and counts it; counts any other against the address it came from.
 * Every answer after this check says how much is left of the minute.
 */
export const authenticate = ({ db, settings }: KeyTools) =>
  createMiddleware<ApiEnv>(async (c, next) => {
    const counted = await countRequest(db, {
      key: readKey(c.req.header('x-api-key') ?? bearerOf(c.req.header('authorization'))),
      address: clientAddress(c),
    });
    const key = accept(c, settings, counted);
    const work = async () => {
      // With the first request of a clock minute.
      if (counted.used === 1) await touchKey(db, key).catch(whenFull(() => undefined));
      await next();
    };
    await inGroup(key.org_id, work, { waitMs: requestWaitMs });
  });

const bearerOf = (authorization = '') => /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '';

const unknownKey =
  'the API key is missing, unknown, revoked or expired: send one as Authorization: Bearer KEY, or as X-API-Key: KEY';

/** Takes the key of a request that has been counted, or refuses the request. */
function accept(
  c: Context<ApiEnv>,
  { rateLimit }: KeyTools['settings'],
  { used, resets_in_seconds, ...found }: CountedRequest,
): Key {
  const known = found.id !== null;
  // A cache in front of us must not give one caller's answer to another.
  c.header('Cache-Control', 'no-store');
  const left = rateHeaders(known, { rateLimit, used, resets_in_seconds });
  for (const [name, value] of Object.entries(left)) c.header(name, value);
  const quota = known ? rateLimit : unknownKeyLimit;
  if (used > quota) {
    rateLimited.publish({ by: known ? 'key' : 'address' });
    throw overLimit(quota, { used, resets_in_seconds });
  }
  if (!known) {
    c.header('WWW-Authenticate', 'Bearer realm="askback"');
    throw new Refusal('unauthorized', unknownKey);
  }
  const key = { ...found, requestId: c.get('requestId') };
  c.set('key', key);
  c.set('actor', actorOfKey(key));
  c.set('tenant', found.org_id);
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

type AddressLimit = { what: 'share'; address: string; quota: number };

/** Refuses a request of an address that is one too many for `what` in its clock minute, over all processes. */
export async function limitAddress(sql: Sql, { what, address, quota }: AddressLimit) {
  const count = await countSubject(sql, `${what}:${address}`);
  if (count.used > quota) {
    rateLimited.publish({ by: what });
    throw overLimit(quota, count);
  }
}

function overLimit(quota: number, { resets_in_seconds }: RateCount): Refusal {
  const message = `rate limit exceeded: max ${quota} requests per minute`;
  return new Refusal('rate_limited', message, { retryInSeconds: resets_in_seconds });
}
