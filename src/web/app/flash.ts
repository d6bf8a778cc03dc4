import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import * as v from 'valibot';

const FlashNotice = v.object({
  kind: v.picklist(['fine', 'failed', 'warning']),
  text: v.pipe(v.string(), v.maxLength(500)),
});

/** What became of the act before this page. */
export type FlashNotice = v.InferOutput<typeof FlashNotice>;

const seconds = 60;

/** Keeps a sentence for the next page that this browser asks for. It must hold no address and no secret. */
export function flash(c: Context, notice: FlashNotice) {
  const value = Buffer.from(JSON.stringify(notice)).toString('base64url');
  setCookie(c, nameFor(c), value, { ...cookie(c), maxAge: seconds });
}

/** The sentence that was kept, once. */
export function takeFlash(c: Context): FlashNotice | undefined {
  const value = getCookie(c, nameFor(c));
  if (!value) return undefined;
  deleteCookie(c, nameFor(c), cookie(c));
  try {
    const text = Buffer.from(value, 'base64url').toString();
    const { success, output } = v.safeParse(FlashNotice, JSON.parse(text));
    return success ? output : undefined;
  } catch {
    return undefined;
  }
}

/** Only over https can a cookie be kept from being set by another host of the same site. */
const nameFor = (c: Context) => (isSecure(c) ? '__Host-askback-notice' : 'askback_notice');

const cookie = (c: Context) =>
  ({ path: '/', httpOnly: true, sameSite: 'Lax', secure: isSecure(c) }) as const;

const isSecure = (c: Context): boolean => c.get('isSecure') === true;
