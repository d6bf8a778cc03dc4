import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context, Handler } from 'hono';

const compress = promisify(gzip);

type Rendered = { text: string; gzipped: Uint8Array<ArrayBuffer>; etag: string };

/**
 * A page that is the same for every caller: made when it is first asked for, then kept, plain and
 * compressed. A cache may keep it too and asks by `If-None-Match` whether it has changed.
 *
 *     app.get('/docs', renderedOnce({ 'Content-Type': 'text/html' }, () => renderDocs()));
 */
export function renderedOnce(
  headers: Readonly<Record<string, string>>,
  render: () => string | Promise<string>,
): Handler {
  let rendering: Promise<Rendered> | undefined;

  return async (c) => {
    rendering ??= renderAll(render);
    const { text, gzipped, etag } = await rendering.catch((error) => {
      rendering = undefined;
      throw error;
    });
    const asGzip = acceptsGzip(c);
    // What is compressed otherwise is another representation, and needs a tag of its own.
    const tag = asGzip ? `"${etag}-gzip"` : `"${etag}"`;
    c.header('ETag', tag);
    c.header('Cache-Control', 'no-cache');
    c.header('Vary', 'Accept-Encoding');
    if (isKnown(c.req.header('If-None-Match'), tag)) return c.body(null, 304);
    for (const [name, value] of Object.entries(headers)) c.header(name, value);
    if (!asGzip) return c.body(text);
    c.header('Content-Encoding', 'gzip');
    return c.body(gzipped);
  };
}

async function renderAll(render: () => string | Promise<string>): Promise<Rendered> {
  const text = await render();
  const etag = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  return { text, gzipped: new Uint8Array(await compress(text)), etag };
}

function acceptsGzip(c: Context): boolean {
  const codings = (c.req.header('Accept-Encoding') ?? '').split(',');
  return codings.some((coding) =>
    /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$)[\d.]+\s*)?$/i.test(coding),
  );
}

function isKnown(ifNoneMatch = '', tag: string): boolean {
  const known = ifNoneMatch.split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes(tag) || known.includes('*');
}
