import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Actor, Writer } from '../audit/acts.ts';
import { Refusal } from '../errors.ts';
import type { Db, Sql } from '../lib/db/db.ts';
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

/** What a request carries once its key has been accepted. */
export type ApiEnv = RequestEnv & { Variables: { key: Key; actor: Actor } };
type Key = {
  id: string;
  org_id: string;
  name: string;
  permission: Permission;
  /** The request that the key came with. */
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
    const counted = await countRequest(db, credentialsOf(c));
    const { key, headers } = accept(c, settings, counted);
    setHeaders(c, headers);
    const work = async () => {
      await noteUse(db, counted);
      await next();
    };
    await inGroup(key.org_id, work, { waitMs: requestWaitMs });
  });

/** When a key was used is written once a clock minute, with the first request that is counted in it. */
export async function noteUse(db: Db, counted: CountedRequest) {
  if (counted.id !== null && counted.used === 1) await touchKey(db, counted);
}

/** What a request is counted by. */
export const credentialsOf = (c: Context) => ({
  key: readKey(c.req.header('x-api-key') ?? bearerOf(c.req.header('authorization'))),
  address: clientAddress(c),
});

const unknownKey =
  'the API key is missing, unknown, revoked or expired: send one as Authorization: Bearer KEY, or as X-API-Key: KEY';

/** Takes the key of a request that has been counted, or refuses the request. The answer needs the headers. */
export function accept(
  c: Context<ApiEnv>,
  { rateLimit }: KeyTools['settings'],
  { used, resets_in_seconds, ...found }: CountedRequest,
) {
  const known = found.id !== null;
  const headers = {
    // A cache in front of us must not give one caller's answer to another.
    'Cache-Control': 'no-store',
    ...rateHeaders(known, { rateLimit, used, resets_in_seconds }),
  };
  const quota = known ? rateLimit : unknownKeyLimit;
  if (used > quota) {
    setHeaders(c, headers);
    rateLimited.publish({ by: known ? 'key' : 'address' });
    throw overLimit(quota, { used, resets_in_seconds });
  }
  if (!known) {
    setHeaders(c, { ...headers, 'WWW-Authenticate': 'Bearer realm="askback"' });
    throw new Refusal('unauthorized', unknownKey);
  }
  const key = { ...found, requestId: c.get('requestId') };
  c.set('key', key);
  c.set('actor', actorOfKey(key));
  c.set('tenant', found.org_id);
  acceptTrace(c);
  return { key, headers };
}

function setHeaders(c: Context, headers: Readonly<Record<string, string>>) {
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
}

const bearerOf = (authorization = '') => /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '';

export function requireWrite(key: Key): WriteKey {
  const { permission } = key;
  if (permission === 'write') {
    return { ...key, permission, orgId: key.org_id, actor: actorOfKey(key), mayWrite: true };
  }
  throw new Refusal('forbidden', 'this API key has no write permission');
}

const actorOfKey = ({ id, name, requestId }: Key): Actor => ({ kind: 'key', id, name, requestId });

type AddressLimit = { what: 'share'; address: string; quota: number };

/**
 * Counts one request of an address for `what` against its clock minute, exactly
 * across processes, and refuses it when that is one too many.
 */
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
