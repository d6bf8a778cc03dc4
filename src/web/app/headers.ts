/**
 * The headers of a screen: scripts and styles from our own files alone, no frame around it. `same-origin`
 * keeps paths from other sites, and lets browsers say where a form of ours comes from.
 */
export function screenHeaders({ leadsTo }: { leadsTo?: string | undefined } = {}) {
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      "style-src 'self'",
      "script-src 'self'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "frame-src 'self'",
      `form-action 'self'${leadsTo ? ` ${leadsTo}` : ''}`,
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'Referrer-Policy': 'same-origin',
    'X-Robots-Tag': 'noindex, nofollow',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    'Cache-Control': 'no-store',
  };
}
