import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { isUuid } from '../lib/validation/parse.ts';

const rememberedSeconds = 365 * 24 * 3600;

/** Once a browser: the answer's id is all that it keeps, and only for this survey's address. */
export function readAnsweredCookie(c: Context, shareId: string): string | null {
  const remembered = getCookie(c, cookieOf(shareId));
  return remembered && isUuid(remembered) ? remembered : null;
}

type Remembered = { shareId: string; answerId: string; publicUrl: string };

export function setAnsweredCookie(c: Context, { shareId, answerId, publicUrl }: Remembered) {
  setCookie(c, cookieOf(shareId), answerId, {
    path: `/f/${shareId}`,
    maxAge: rememberedSeconds,
    httpOnly: true,
    sameSite: 'Lax',
    secure: publicUrl.startsWith('https:'),
  });
}

const cookieOf = (shareId: string) => `answered_${shareId}`;
