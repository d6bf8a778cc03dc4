import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import * as v from 'valibot';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import { spendHandshake } from './handshake.queries.ts';

// Some proofs have two halves: first a question goes out with a cookie, then the answer comes back with it.

export type HandshakeTools = { db: Db; secrets: Secrets; publicUrl: string };

type Handshake = 'oidc' | 'passkey';

type Kept = { expires: number; data: unknown };

const seconds = 600;

/** Binds the second half to this browser: what is kept is sealed, so that it can neither be read nor changed. */
export function keepHandshake(
  c: Context,
  { secrets, publicUrl }: HandshakeTools,
  { kind, data }: { kind: Handshake; data: object },
) {
  const kept: Kept = { expires: Date.now() + seconds * 1000, data };
  const value = secrets.seal(ownerOf(kind), JSON.stringify(kept)).toString('base64url');
  setCookie(c, nameOf(kind, publicUrl), value, { ...attributes(publicUrl), maxAge: seconds });
}

/** What was kept for this browser, once: also a copy of the cookie does not bring it back. */
export async function takeHandshake<const S extends v.GenericSchema>(
  c: Context,
  { db, secrets, publicUrl }: HandshakeTools,
  { kind, data }: { kind: Handshake; data: S },
): Promise<v.InferOutput<S> | undefined> {
  const name = nameOf(kind, publicUrl);
  const value = getCookie(c, name);
  if (!value) return undefined;
  deleteCookie(c, name, attributes(publicUrl));
  const kept = open(secrets, kind, value);
  const read = v.safeParse(data, kept?.data);
  if (!kept || !read.success || kept.expires < Date.now()) return undefined;
  // Of the bytes: base64 can be written in more than one way.
  const hash = createHash('sha256').update(Buffer.from(value, 'base64url')).digest();
  return (await spendHandshake(db, hash, new Date(kept.expires))) ? read.output : undefined;
}

function open(secrets: Secrets, kind: Handshake, value: string): Kept | undefined {
  try {
    return JSON.parse(secrets.open(ownerOf(kind), Buffer.from(value, 'base64url')));
  } catch {
    return undefined; // made up, or sealed with a key that is gone
  }
}

const ownerOf = (kind: Handshake) => ({ owner: 'handshake', id: kind });

/** `Lax` lets it come along when a provider sends the browser back here. */
const attributes = (publicUrl: string) =>
  ({
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    secure: publicUrl.startsWith('https:'),
  }) as const;

const nameOf = (kind: Handshake, publicUrl: string) =>
  publicUrl.startsWith('https:') ? `__Host-askback-${kind}` : `askback_${kind}`;
