const anyBase = 'http://askback.invalid';
const longestPath = 2000;

/**
 * The path that a form or link asks to go on to, if it is one of ours: nothing of it may lead to another host, also
 * not `//host`, `/\host` or a path in which browsers drop a character.
 */
export function ownPath(given: string | undefined, otherwise = '/'): string {
  if (!given?.startsWith('/') || given.length > longestPath) return otherwise;
  if (/^\/[/\\]|[\\\p{Cc}]/u.test(given) || !URL.canParse(given, anyBase)) return otherwise;
  const { origin, pathname, search, hash } = new URL(given, anyBase);
  if (origin !== anyBase || pathname.startsWith('//')) return otherwise;
  return `${pathname}${search}${hash}`;
}

/** A page that returns to `path` afterwards. */
export const withNext = (page: string, path: string) =>
  path === '/' ? page : `${page}?next=${encodeURIComponent(path)}`;
