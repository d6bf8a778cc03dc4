import { createHash } from 'node:crypto';
import type { Context } from 'hono';

/**
 * The headers of a page that shows itself and nothing else: no script, nothing from anywhere, only the
 * given inline style, forms only to this server, no frame around it, and no trace of the address it had.
 */
export function pageHeaders(
  style: string,
  { pictures = false }: { pictures?: boolean } = {},
): Record<string, string> {
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      `style-src 'sha256-${sha256(style)}'`,
      `img-src ${pictures ? "'self' " : ''}data:`, // the icon, so that the browser asks for no /favicon.ico
      "form-action 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex, nofollow',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    'Cache-Control': 'no-store',
  };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64');

/** Programs say so, by what they send or by what they want to read. */
export function wantsJson(c: Context): boolean {
  const accepts = c.req.header('Accept') ?? '';
  return sendsJson(c) || (accepts.includes('application/json') && !accepts.includes('text/html'));
}

export const sendsJson = (c: Context) =>
  /^application\/json\b/i.test(c.req.header('Content-Type') ?? '');
