import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Secrets } from '../../lib/crypto/secrets.ts';

type Sealing = Pick<Secrets, 'seal' | 'open'>;

/** Whose browser may see it: the member in the organization. */
export type ShownOnceFor = { orgId: string; memberId: string };

const seconds = 60;

/**
 * Keeps a secret for the next page that this browser asks for, so that a posted form can lead on to a page. It is
 * sealed for one member of one organization: the cookie alone shows nothing.
 */
export function keepOnce(c: Context, secrets: Sealing, owner: ShownOnceFor, value: object) {
  const kept = JSON.stringify({ until: Date.now() + seconds * 1000, value });
  const sealed = secrets.seal(sealedFor(owner), kept).toString('base64url');
  setCookie(c, nameFor(c), sealed, { ...cookie(c), maxAge: seconds });
}

/** What was kept, once; what does not open, because another member signed in or the key changed, is nothing. */
export function takeOnce(c: Context, secrets: Sealing, owner: ShownOnceFor): unknown {
  const sealed = getCookie(c, nameFor(c));
  if (!sealed) return undefined;
  deleteCookie(c, nameFor(c), cookie(c));
  try {
    const opened = secrets.open(sealedFor(owner), Buffer.from(sealed, 'base64url'));
    const { until, value } = JSON.parse(opened) as { until: number; value: unknown };
    return until > Date.now() ? value : undefined;
  } catch {
    return undefined;
  }
}

const sealedFor = ({ orgId, memberId }: ShownOnceFor) => ({
  owner: orgId,
  id: `shown to ${memberId}`,
});

/** Only over https can a cookie be kept from being set by another host of the same site. */
const nameFor = (c: Context) => (isSecure(c) ? '__Host-askback-once' : 'askback_once');

const cookie = (c: Context) =>
  ({ path: '/', httpOnly: true, sameSite: 'Strict', secure: isSecure(c) }) as const;

const isSecure = (c: Context): boolean => c.get('isSecure') === true;
