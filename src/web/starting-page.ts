import { errorPage } from './error-page.tsx';
import { preferredLanguage } from './language.ts';

const retrySeconds = 2;

/** What a browser is shown while the service starts. A page that was asked for is asked for again, a form is not sent again. */
export function showStarting(request: Request): Response | undefined {
  const { pathname } = new URL(request.url);
  const isPage = (request.headers.get('Accept') ?? '').includes('text/html');
  if (!isPage || pathname.startsWith('/api/') || /^\/(health|ready)z$/.test(pathname))
    return undefined;
  const language = preferredLanguage(request.headers.get('Accept-Language'));
  const { html, headers } = errorPage('unavailable', language);
  return new Response(html, {
    status: 503,
    headers: {
      ...headers,
      'Content-Type': 'text/html; charset=utf-8',
      'Retry-After': String(retrySeconds),
      ...(request.method === 'GET' && { Refresh: String(retrySeconds) }),
    },
  });
}
