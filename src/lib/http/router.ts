import type { NotFoundHandler } from 'hono';
import { notFound, Refusal } from '../../errors.ts';
import type { RequestEnv } from './http.ts';

type Route = { method: string; path: string };

/**
 * Answers 405 with `Allow` if the path has other methods, else 404. Pages with a trailing slash redirect. API paths do
 * not, so that clients learn the right path.
 */
export const answerNoRoute =
  (routes: () => readonly Route[]): NotFoundHandler<RequestEnv> =>
  (c) => {
    const { method, path, url } = c.req;
    const methods = allowedMethods(routes(), path);
    if (methods.length > 0) {
      c.header('Allow', methods.join(', '));
      if (method === 'OPTIONS') return c.body(null, 204);
      const message = `${method} is not allowed here, only ${methods.join(', ')}`;
      throw new Refusal('method_not_allowed', message);
    }
    const { pathname, search } = new URL(url);
    const meant = pathname.replace(/\/+$/, '');
    const taken = meant === pathname ? [] : allowedMethods(routes(), meant);
    if (taken.length === 0) throw notFound('path');
    // `//example.com` and `/\example.com` would redirect to another host.
    const isPage = /^\/[^/\\]/.test(meant) && !/^\/api(\/|$)/.test(meant);
    if (isPage && taken.includes('GET') && (method === 'GET' || method === 'HEAD')) {
      return c.redirect(meant + search, 308);
    }
    throw new Refusal('not_found', 'path not found: remove the trailing slash');
  };

/** The methods of the most specific matching routes: `/webhooks/events` is not `/webhooks/:id`. */
export function allowedMethods(routes: readonly Route[], path: string): string[] {
  const matching = routes.filter(
    ({ method, path: template }) => method !== 'ALL' && takes(template, path),
  );
  const fewest = Math.min(...matching.map(countParameters));
  const specific = matching.filter((route) => countParameters(route) === fewest);
  const methods = new Set(specific.map(({ method }) => method));
  if (methods.has('GET')) methods.add('HEAD');
  if (methods.size > 0) methods.add('OPTIONS');
  return [...methods].sort();
}

const countParameters = ({ path }: Route) => path.split('/').filter(isOpen).length;
const isOpen = (part: string) => part === '*' || part.startsWith(':');

function takes(template: string, path: string): boolean {
  const [expected, actual] = [template.split('/'), path.split('/')];
  if (expected.at(-1) === '*')
    expected.splice(-1, 1, ...actual.slice(expected.length - 1).map(() => ':'));
  return (
    expected.length === actual.length &&
    expected.every((part, at) => (part.startsWith(':') ? actual[at] !== '' : part === actual[at]))
  );
}
