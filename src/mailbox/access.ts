import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { notFound, Refusal } from '../errors.ts';
import { isSameText } from '../lib/crypto/same-text.ts';
import { isLocalRequest } from '../lib/http/local.ts';

const cookieName = 'askback_mailbox';

export type MailboxAccess = {
  /** Whether mails land in the mailbox, because no SMTP server is configured. */
  mailbox: boolean;
  /** What local callers must know too; null where the service is not reachable from other machines. */
  mailboxSecret?: string | null;
};

/** Where the mailbox is read: with the secret, if one is needed. */
export const mailboxUrl = (address: string, secret: string | null) =>
  secret === null ? `${address}/mailbox` : `${address}/mailbox?secret=${secret}`;

/**
 * Lets in local callers, and with a secret only those that know it: behind a proxy on this machine every
 * visitor looks local. A browser that opens the link keeps the secret as a cookie.
 */
export const guardMailbox =
  ({ mailbox, mailboxSecret = null }: MailboxAccess): MiddlewareHandler =>
  async (c, next) => {
    if (!mailbox) throw notFound('path');
    if (!isLocalRequest(c)) {
      throw new Refusal('forbidden', 'the mailbox can be read only on the machine itself');
    }
    if (mailboxSecret === null) return await next();
    const given = c.req.query('secret');
    if (given !== undefined && isSameText(given, mailboxSecret)) return keep(c, mailboxSecret);
    if (isSameText(getCookie(c, cookieName) ?? '', mailboxSecret)) return await next();
    throw new Refusal(
      'forbidden',
      'the mailbox opens by the link with a secret that `askback serve` printed when it started',
    );
  };

function keep(c: Context, secret: string): Response {
  setCookie(c, cookieName, secret, { path: '/mailbox', httpOnly: true, sameSite: 'Strict' });
  c.header('Cache-Control', 'no-store');
  c.header('Referrer-Policy', 'no-referrer');
  return c.redirect(c.req.path, 303);
}
