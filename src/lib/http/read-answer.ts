import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context, Handler } from 'hono';

const minCompressed = 1024;
/** Three quarters of the size go away; a higher level takes twice the time for a tenth of the rest. */
const compression = { level: 4 };
const compressed = promisify(gzip);

type Headers = Readonly<Record<string, string>>;

/**
 * Answers a read with finished JSON: with an ETag, a link to the next page of a list, and gzip if the caller takes it.
 * The ETag begins with the version, if there is one.
 */
export async function answerRead(c: Context, json: string, version?: string): Promise<Response> {
  const tag = tagOf(json, version);
  const next = nextPage(json);
  const headers: Record<string, string> = {
    ETag: tag,
    'Cache-Control': 'private, no-cache',
    Vary: 'X-API-Key, Authorization, Accept-Encoding',
  };
  if (next) headers['Link'] = linkTo(c, next);
  if (has(c.req.header('if-none-match'), tag)) return c.newResponse(null, 304, headers);
  headers['Content-Type'] = 'application/json';
  if (json.length < minCompressed || !takesGzip(c.req.header('accept-encoding'))) {
    return c.newResponse(json, 200, headers);
  }
  const body = await compressed(json, compression);
  return c.newResponse(new Uint8Array(body), 200, { ...headers, 'Content-Encoding': 'gzip' });
}

/**
 * A page that is the same for every caller: rendered and compressed when it is first asked for, then kept.
 *
 *     app.get('/docs', renderedOnce({ 'Content-Type': 'text/html' }, () => renderDocs()));
 */
export function renderedOnce(headers: Headers, render: () => string | Promise<string>): Handler {
  let rendering: Promise<{ text: string; gzipped: Uint8Array<ArrayBuffer> }> | undefined;

  async function renderBoth() {
    const text = await render();
    return { text, gzipped: new Uint8Array(await compressed(text)) };
  }

  return async (c) => {
    rendering ??= renderBoth();
    const { text, gzipped } = await rendering.catch((error) => {
      rendering = undefined;
      throw error;
    });
    const tag = tagOf(text);
    const all = { ...headers, ETag: tag, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' };
    if (has(c.req.header('if-none-match'), tag)) return c.body(null, 304, all);
    if (!takesGzip(c.req.header('accept-encoding'))) return c.body(text, 200, all);
    return c.body(gzipped, 200, { ...all, 'Content-Encoding': 'gzip' });
  };
}

/** Weak, because it is the same for both encodings. */
const tagOf = (text: string, version?: string) =>
  `W/"${version ? `${version}.` : ''}${hash('sha1', text, 'base64url')}"`;

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

const cursorForm = /"next_cursor":"([^"]*)"/y;

/** The cursor comes after all items. A quotation mark inside a text is escaped, so no text looks like it. */
function nextPage(json: string): string | undefined {
  const at = json.lastIndexOf('"next_cursor":');
  cursorForm.lastIndex = at;
  return at < 0 ? undefined : cursorForm.exec(json)?.[1];
}

/** The same list after this page. Relative, because a proxy may know it under another address. */
function linkTo(c: Context, cursor: string): string {
  const { pathname, searchParams } = new URL(c.req.url);
  searchParams.delete('page');
  searchParams.set('cursor', cursor);
  return `<${pathname}?${searchParams}>; rel="next"`;
}
