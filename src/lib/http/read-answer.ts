import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import type { Context, Handler } from 'hono';
import { parseAccept } from 'hono/utils/accept';
import { lazy } from '../async/memoize.ts';

const minCompressedLength = 1024;
/** Removes three quarters of the size. Higher levels take twice the time for a tenth more. */
const compression = { level: 4 };
const compressed = promisify(gzip);

type Headers = Readonly<Record<string, string>>;

/** Answers a GET with JSON, an ETag that begins with `version`, a link to the next page of a list, and gzip. */
export async function answerRead(c: Context, json: string, version?: string): Promise<Response> {
  const tag = tagOf(json, version);
  const next = nextPage(json);
  const headers: Record<string, string> = {
    ETag: tag,
    'Cache-Control': 'private, no-cache',
    Vary: 'X-API-Key, Authorization, Accept-Encoding',
  };
  if (next) headers['Link'] = linkTo(c, next);
  if (matchesEtag(c.req.header('if-none-match'), tag)) return c.newResponse(null, 304, headers);
  headers['Content-Type'] = 'application/json';
  if (json.length < minCompressedLength || !acceptsGzip(c.req.header('accept-encoding'))) {
    return c.newResponse(json, 200, headers);
  }
  const body = await compressed(json, compression);
  return c.newResponse(new Uint8Array(body), 200, { ...headers, 'Content-Encoding': 'gzip' });
}

/** Serves a page that is the same for every caller. The first request renders and compresses it. */
export function cachedPage(headers: Headers, render: () => string): Handler {
  const page = lazy(() => {
    const text = render();
    return { text, tag: tagOf(text), gzipped: new Uint8Array(gzipSync(text)) };
  });
  return (c) => {
    const { text, tag, gzipped } = page();
    const all = { ...headers, ETag: tag, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' };
    if (matchesEtag(c.req.header('if-none-match'), tag)) return c.body(null, 304, all);
    if (!acceptsGzip(c.req.header('accept-encoding'))) return c.body(text, 200, all);
    return c.body(gzipped, 200, { ...all, 'Content-Encoding': 'gzip' });
  };
}

/** A weak ETag, because both encodings share it. */
const tagOf = (text: string, version?: string) =>
  `W/"${version ? `${version}.` : ''}${hash('sha1', text, 'base64url')}"`;

function matchesEtag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  const opaque = tag.slice(2);
  return header.split(',').some((each) => each.trim().replace(/^W\//, '') === opaque);
}

/** `gzip;q=0` forbids gzip. */
export const acceptsGzip = (header = ''): boolean =>
  parseAccept(header).some(({ type, q }) => /^(gzip|\*)$/i.test(type) && q > 0);

const cursorForm = /"next_cursor":"([^"]*)"/y;

/** Finds the cursor, which follows all items. Quotes inside texts are escaped, so no text can match. */
function nextPage(json: string): string | undefined {
  const at = json.lastIndexOf('"next_cursor":');
  cursorForm.lastIndex = at;
  return at < 0 ? undefined : cursorForm.exec(json)?.[1];
}

/** A relative link, because the public address may differ behind a proxy. */
function linkTo(c: Context, cursor: string): string {
  const { pathname, searchParams } = new URL(c.req.url);
  searchParams.delete('page');
  searchParams.set('cursor', cursor);
  return `<${pathname}?${searchParams}>; rel="next"`;
}
