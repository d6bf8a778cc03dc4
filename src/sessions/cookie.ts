import { createHash, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

const tokenBytes = 32;
const tokenForm = /^[\w-]{43}$/;
const longestDays = 90;
const daySeconds = 86_400;

/** Browsers take a `__Host-` cookie only over https, and from no sibling of this host. */
const nameOf = (publicUrl: string) =>
  publicUrl.startsWith('https:') ? '__Host-askback' : 'askback_session';

export const newToken = () => randomBytes(tokenBytes).toString('base64url');

/** What is stored of a token: a leaked backup must not leak live sessions or links. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The hash of the cookie's token, when there is one that is well formed. */
export function readSessionHash(c: Context, publicUrl: string): Buffer | undefined {
  const token = getCookie(c, nameOf(publicUrl));
  return token && tokenForm.test(token) ? hashToken(token) : undefined;
}

export function setSessionCookie(c: Context, publicUrl: string, token: string) {
  setCookie(c, nameOf(publicUrl), token, {
    ...attributes(publicUrl),
    maxAge: longestDays * daySeconds,
  });
}

export function clearSessionCookie(c: Context, publicUrl: string) {
  setCookie(c, nameOf(publicUrl), '', { ...attributes(publicUrl), maxAge: 0 });
}

const attributes = (publicUrl: string) =>
  ({
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    secure: publicUrl.startsWith('https:'),
  }) as const;
