import type { Context } from 'hono';
import type { Sql } from '../lib/db/db.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { oneLine } from '../lib/validation/plain-line.ts';
import {
  clearSessionCookie,
  hashToken,
  newToken,
  readSessionHash,
  setSessionCookie,
} from './cookie.ts';
import { deleteSessionOf, insertSession } from './queries.ts';

const longestUserAgent = 300;

type BeginOptions = {
  publicUrl: string;
  memberId: string;
  /** Whether the member has yet to give a second step; until then the session opens nothing else. */
  awaitsCode?: boolean;
};

/**
 * Signs a member in with a session of its own, whatever cookie the browser had before: that session ends. The cookie is
 * part of the answer, so the caller's transaction must commit before the answer goes out.
 */
export async function beginSession(
  tx: Sql,
  c: Context,
  { publicUrl, memberId, awaitsCode = false }: BeginOptions,
): Promise<string> {
  const before = readSessionHash(c, publicUrl);
  if (before) await deleteSessionOf(tx, before);
  const token = newToken();
  const userAgent = oneLine(c.req.header('User-Agent') ?? '').slice(0, longestUserAgent);
  const id = await insertSession(tx, {
    tokenHash: hashToken(token),
    memberId,
    awaitsCode,
    userAgent: userAgent === '' ? null : userAgent,
    address: clientAddress(c),
  });
  setSessionCookie(c, publicUrl, token);
  return id;
}

/** Ends the session of this browser. */
export async function endSession(sql: Sql, c: Context, publicUrl: string) {
  const hash = readSessionHash(c, publicUrl);
  clearSessionCookie(c, publicUrl);
  return hash && (await deleteSessionOf(sql, hash));
}
