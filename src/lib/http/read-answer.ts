import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'hono';

/** A smaller body does not get small enough to be worth it. */
const smallestCompressed = 1024;
/** Three quarters of the size go away; a higher level takes twice the time for a tenth of the rest. */
const compression = { level: 4 };
const compressed = promisify(gzip);

type Headers = Record<string, string>;

/**
 * Answers a read with JSON that is made already: with a tag by which the caller can ask whether it has changed, the
 * address of the next page of a list, and compressed for a caller that asks for that. The tag is weak, because it
 * is the same for both encodings.
 */
export function answerRead(c: Context, json: string): Response | Promise<Response> {
  const tag = `W/"${hash('sha1', json, 'base64url')}"`;
  const next = nextPage(json);
  const headers: Headers = {
    ETag: tag,
    'Cache-Control': 'private, no-cache',
    Vary: 'X-API-Key, Authorization, Accept-Encoding',
  };
  if (next) headers['Link'] = linkTo(c, next);
  if (has(c.req.header('if-none-match'), tag)) return c.newResponse(null, 304, headers);
  headers['Content-Type'] = 'application/json';
  if (json.length < smallestCompressed || !takesGzip(c.req.header('accept-encoding'))) {
    return c.newResponse(json, 200, headers);
  }
  return answerCompressed(c, json, headers);
}

async function answerCompressed(c: Context, json: string, headers: Headers): Promise<Response> {
  const body = await compressed(json, compression);
  headers['Content-Encoding'] = 'gzip';
  return c.newResponse(new Uint8Array(body), 200, headers);
}

function has(asked: string | undefined, tag: string): boolean {
  if (asked === undefined) return false;
  if (asked.trim() === '*') return true;
  const opaque = tag.slice(2);
  return asked.split(',').some((each) => each.trim().replace(/^W\//, '') === opaque);
}

/** `gzip;q=0` and `identity` say no. */
function takesGzip(accepted = ''): boolean {
  return accepted.split(',').some((each) => {
    const [coding = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase());
    if (coding !== 'gzip' && coding !== '*') return false;
    return !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

const cursorName = '"next_cursor":';

/** The cursor stands behind all items: a quotation mark inside a text is escaped, so no text looks like it. */
function nextPage(json: string): string | undefined {
  const at = json.lastIndexOf(cursorName);
  if (at < 0 || json[at + cursorName.length] !== '"') return undefined;
  const start = at + cursorName.length + 1;
  return json.slice(start, json.indexOf('"', start));
}

/** The same list after this page. Relative, because a proxy may know it under another address. */
function linkTo(c: Context, cursor: string): string {
  const { url } = c.req;
  if (!/[?%]/.test(url)) return `<${c.req.path}?cursor=${cursor}>; rel="next"`;
  const { pathname, searchParams } = new URL(url);
  searchParams.delete('page');
  searchParams.set('cursor', cursor);
  return `<${pathname}?${searchParams}>; rel="next"`;
}
