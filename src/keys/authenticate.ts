import { createMiddleware } from 'hono/factory';
import { Refusal } from '../errors.ts';
import type { Db } from '../platform/db.ts';
import type { RequestEnv } from '../platform/http.ts';
import { countRequest, type Permission } from './queries.ts';
import { readKey } from './rules.ts';

/** What a request carries once its key has been accepted. */
export type ApiEnv = RequestEnv & { Variables: { key: Key } };
export type Key = { id: string; org_id: string; permission: Permission };

/** Proof that the key behind a request may write. Only requireWrite() makes one. */
export type WriteKey = Key & { permission: 'write' };

export const authenticate = ({ db }: { db: Db }) =>
  createMiddleware<ApiEnv>(async (c, next) => {
    const parts = readKey(c.req.header('X-API-Key') ?? '');
    const key = parts && (await countRequest(db, parts));
    if (!key) {
      throw new Refusal('unauthorized', 'the API key is missing, unknown, revoked or expired');
    }
    c.set('key', key);
    await next();
  });

export function requireWrite(key: Key): WriteKey {
  if (key.permission === 'write') return key as WriteKey;
  throw new Refusal('forbidden', 'this API key has no write permission');
}
