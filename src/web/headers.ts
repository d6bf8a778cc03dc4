import { createHash } from 'node:crypto';
import type { Context } from 'hono';

/** The headers of every page: it loads only what its policy names, no other site frames it, no program indexes it. */
export const securityHeaders = (policy: readonly string[]) => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    ...policy,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'X-Robots-Tag': 'noindex, nofollow',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'Cache-Control': 'no-store',
});

/** The headers of a page without script, which leaves no trace of the address it had. */
export const pageHeaders = (style: string, { pictures = false } = {}): Record<string, string> => ({
  ...securityHeaders([
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    `img-src ${pictures ? "'self' " : ''}data:`, // the icon, so that the browser asks for no /favicon.ico
    "form-action 'self'",
  ]),
  'Referrer-Policy': 'no-referrer',
});

/** Programs say so, by what they send or by what they want to read. */
export function wantsJson(c: Context): boolean {
  const accepts = c.req.header('Accept') ?? '';
  return sendsJson(c) || (accepts.includes('application/json') && !accepts.includes('text/html'));
}

export const sendsJson = (c: Context) =>
  /^application\/json\b/i.test(c.req.header('Content-Type') ?? '');
