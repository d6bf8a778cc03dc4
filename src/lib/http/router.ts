import type { HonoRequest, NotFoundHandler } from 'hono';
import { notFound, Refusal } from '../../errors.ts';
import type { RequestEnv } from './http.ts';

type Route = { method: string; path: string };

/** No route took the request: its path is unknown, or takes other methods, which `Allow` then names. */
export const answerNoRoute =
  (routes: () => readonly Route[]): NotFoundHandler<RequestEnv> =>
  (c) => {
    const methods = allowedMethods(routes(), c.req.path);
    if (methods.length === 0) {
      const page = pageWithoutSlash(routes(), c.req);
      if (page) return c.redirect(page, 308);
      throw withoutSlash(routes(), c.req.path) ?? notFound('path');
    }
    c.header('Allow', methods.join(', '));
    if (c.req.method === 'OPTIONS') return c.body(null, 204);
    throw new Refusal(
      'method_not_allowed',
      `${c.req.method} is not allowed here, only ${methods.join(', ')}`,
    );
  };

/**
 * The address of a page that was asked for with a slash at its end. It stays on this host, which `//elsewhere` would
 * leave; and a path of the API is a 404, because a program should learn the right one.
 */
function pageWithoutSlash(routes: readonly Route[], { method, url }: HonoRequest) {
  const { pathname, search } = new URL(url);
  const page = pathname.replace(/\/+$/, '');
  const isPage = /^\/[^/\\]/.test(page) && page !== pathname && !/^\/api(\/|$)/.test(page);
  const isRead = method === 'GET' || method === 'HEAD';
  if (!isPage || !isRead || !allowedMethods(routes, page).includes('GET')) return undefined;
  return page + search;
}

/** A redirect would keep a wrong address in a program, and many clients drop the body or the key on the way. */
function withoutSlash(routes: readonly Route[], path: string) {
  const meant = path.replace(/\/+$/, '');
  if (meant === path || allowedMethods(routes, meant).length === 0) return undefined;
  return new Refusal('not_found', 'path not found: write it without the slash at its end');
}

/**
 * The methods of the routes that a path matches. A route for all methods is a middleware. A path that is
 * spelled out is none of those with a parameter in its place: `/webhooks/events` is not `/webhooks/:id`.
 */
export function allowedMethods(routes: readonly Route[], path: string): string[] {
  const matching = routes.filter(
    ({ method, path: template }) => method !== 'ALL' && takes(template, path),
  );
  const fewest = Math.min(...matching.map(countParameters));
  const meant = matching.filter((route) => countParameters(route) === fewest);
  const methods = new Set(meant.map(({ method }) => method));
  if (methods.has('GET')) methods.add('HEAD');
  if (methods.size > 0) methods.add('OPTIONS');
  return [...methods].sort();
}

const countParameters = ({ path }: Route) => path.split('/').filter(isOpen).length;
const isOpen = (part: string) => part === '*' || part.startsWith(':');

function takes(template: string, path: string): boolean {
  const [expected, given] = [template.split('/'), path.split('/')];
  if (expected.at(-1) === '*')
    expected.splice(-1, 1, ...given.slice(expected.length - 1).map(() => ':'));
  return (
    expected.length === given.length &&
    expected.every((part, at) => (part.startsWith(':') ? given[at] !== '' : part === given[at]))
  );
}
