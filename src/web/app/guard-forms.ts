import type { Context, MiddlewareHandler } from 'hono';
import { Refusal } from '../../errors.ts';

const reading = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses a form that another site made the reader's browser post. Stands before every screen, because it also
 * notes what cookies are to be like: secure where the public address is https.
 */
export function guardForms(publicUrl: string): MiddlewareHandler {
  const { origin, protocol } = new URL(publicUrl);
  return async (c, next) => {
    c.set('isApp', true);
    c.set('isSecure', protocol === 'https:');
    if (!reading.has(c.req.method) && !isOwnForm(c, origin)) {
      throw new Refusal('forbidden', 'the form did not come from a page of this server', {
        code: 'forged_form',
      });
    }
    await next();
  };
}

/** Browsers send one of the two headers with every post; a program that sends neither holds no reader's cookie. */
function isOwnForm(c: Context, origin: string): boolean {
  const site = c.req.header('Sec-Fetch-Site');
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const given = c.req.header('Origin');
  return given === undefined || given === origin;
}
