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

type PageParts = { pictures?: boolean; script?: string | undefined };

/** Headers of a page whose address may contain a token: it sends no referrer, and runs no script but the given one. */
export const pageHeaders = (
  style: string,
  { pictures = false, script }: PageParts = {},
): Record<string, string> => ({
  ...securityHeaders([
    `style-src ${hashSource(style)}`,
    ...(script === undefined ? [] : [`script-src ${hashSource(script)}`, "connect-src 'self'"]),
    `img-src ${pictures ? "'self' " : ''}data:`, // for the icon
    "form-action 'self'",
  ]),
  'Referrer-Policy': 'no-referrer',
});

export const hashSource = (text: string) =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** True for clients that send JSON or accept JSON and no HTML. */
export function wantsJson(c: Context): boolean {
  const accepts = c.req.header('Accept') ?? '';
  return sendsJson(c) || (accepts.includes('application/json') && !accepts.includes('text/html'));
}

export const sendsJson = (c: Context) =>
  /^application\/json\b/i.test(c.req.header('Content-Type') ?? '');
