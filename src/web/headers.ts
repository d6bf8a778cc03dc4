import { createHash } from 'node:crypto';
import type { Context } from 'hono';

/** Security headers of every page: a strict content security policy, no framing, no indexing. */
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

/** Headers of a page without script. Its address may contain a token, so it sends no referrer. */
export const pageHeaders = (style: string, { pictures = false } = {}): Record<string, string> => ({
  ...securityHeaders([
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    `img-src ${pictures ? "'self' " : ''}data:`, // for the icon
    "form-action 'self'",
  ]),
  'Referrer-Policy': 'no-referrer',
});

/** True for clients that send JSON or accept JSON and no HTML. */
export function wantsJson(c: Context): boolean {
  const accepts = c.req.header('Accept') ?? '';
  return sendsJson(c) || (accepts.includes('application/json') && !accepts.includes('text/html'));
}

export const sendsJson = (c: Context) =>
  /^application\/json\b/i.test(c.req.header('Content-Type') ?? '');
