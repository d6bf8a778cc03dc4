import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import * as v from 'valibot';
import type { Secrets } from '../../lib/crypto/secrets.ts';

const FlashNotice = v.object({
  kind: v.picklist(['fine', 'failed', 'warning']),
  text: v.pipe(v.string(), v.maxLength(500)),
});

export type FlashNotice = v.InferOutput<typeof FlashNotice>;

const maxAge = 60;

/** Stores a message for the next page of this browser, in a readable cookie: no addresses, no secrets. */
export function flash(c: Context, notice: FlashNotice) {
  const value = Buffer.from(JSON.stringify(notice)).toString('base64url');
  setCookie(c, cookieName(c, 'notice'), value, { ...cookie(c, 'Lax'), maxAge });
}

/** Redirects after an action. The next page shows the text. */
export function redirectWith(
  c: Context,
  path: string,
  text: string,
  kind: FlashNotice['kind'] = 'fine',
): Response {
  flash(c, { kind, text });
  return c.redirect(path, 303);
}

/** Returns and deletes the message. */
export function takeFlash(c: Context): FlashNotice | undefined {
  const value = getCookie(c, cookieName(c, 'notice'));
  if (!value) return undefined;
  deleteCookie(c, cookieName(c, 'notice'), cookie(c, 'Lax'));
  try {
    const text = Buffer.from(value, 'base64url').toString();
    const { success, output } = v.safeParse(FlashNotice, JSON.parse(text));
    return success ? output : undefined;
  } catch {
    return undefined;
  }
}

type Sealing = Pick<Secrets, 'seal' | 'open'>;

type SecretOwner = { orgId: string; memberId: string };

/** Stores a secret for the next page in a cookie, encrypted for one member of one organization. */
export function setOneTimeSecret(c: Context, secrets: Sealing, owner: SecretOwner, value: object) {
  const content = JSON.stringify({ until: Date.now() + maxAge * 1000, value });
  const sealed = secrets.seal(secretContext(owner), content).toString('base64url');
  setCookie(c, cookieName(c, 'once'), sealed, { ...cookie(c, 'Strict'), maxAge });
}

/** Returns and deletes the secret. Undefined if another member signed in or the key changed. */
export function takeOneTimeSecret(c: Context, secrets: Sealing, owner: SecretOwner): unknown {
  const sealed = getCookie(c, cookieName(c, 'once'));
  if (!sealed) return undefined;
  deleteCookie(c, cookieName(c, 'once'), cookie(c, 'Strict'));
  try {
    const opened = secrets.open(secretContext(owner), Buffer.from(sealed, 'base64url'));
    const { until, value } = JSON.parse(opened) as { until: number; value: unknown };
    return until > Date.now() ? value : undefined;
  } catch {
    return undefined;
  }
}

const secretContext = ({ orgId, memberId }: SecretOwner) => ({
  owner: orgId,
  id: `shown to ${memberId}`,
});

/** `__Host-` keeps other hosts of the same site from setting the cookie. The prefix needs https. */
const cookieName = (c: Context, name: string) =>
  c.get('isSecure') === true ? `__Host-askback-${name}` : `askback_${name}`;

const cookie = (c: Context, sameSite: 'Lax' | 'Strict') => ({
  path: '/',
  httpOnly: true,
  sameSite,
  secure: c.get('isSecure') === true,
});
