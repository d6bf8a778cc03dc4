import { createHash } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { embeddingOf } from '../surveys/asking.schemas.ts';
import { readWebAsset } from '../web/app/assets.ts';
import type { SurveyLink } from './link.queries.ts';

/** `/embed.js`: the script that websites load. It is small, always the same, and may be kept for an hour. */
export const embedScript = () =>
  new Hono().get('/embed.js', (c) => {
    const script = new Uint8Array(readWebAsset('embed.js'));
    const etag = `"${createHash('sha256').update(script).digest('base64url').slice(0, 16)}"`;
    const headers = {
      'Cache-Control': 'public, max-age=3600',
      ETag: etag,
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'X-Content-Type-Options': 'nosniff',
    };
    if (c.req.header('If-None-Match') === etag) return c.body(null, 304, headers);
    return c.body(script, 200, { ...headers, 'Content-Type': 'text/javascript; charset=utf-8' });
  });

/** Which websites may frame the answer to this request. */
export function allowFrames(c: Context, { embed }: SurveyLink) {
  c.set('frameOrigins', embeddingOf(embed).origins);
}

/**
 * Pages for a frame: those websites alone may show them that the survey names. A script of a few lines says how high
 * the page is, and whether it asks or thanks; nothing else leaves the frame.
 */
export const inFrame = createMiddleware(async (c, next) => {
  await next();
  const origins = c.get('frameOrigins') as string[] | undefined;
  const policy = c.res.headers.get('Content-Security-Policy');
  if (!policy || !c.res.headers.get('Content-Type')?.startsWith('text/html')) return;
  const html = await c.res.text();
  const headers = new Headers(c.res.headers);
  const ancestors = origins?.join(' ') || "'none'";
  headers.set(
    'Content-Security-Policy',
    `${policy.replace("frame-ancestors 'none'", `frame-ancestors ${ancestors}`)}; script-src '${scriptHash}'`,
  );
  headers.set('Cross-Origin-Resource-Policy', 'cross-origin');
  headers.delete('Cross-Origin-Opener-Policy');
  const page = html.replace('</body>', `<script>${frameScript}</script></body>`);
  const { status } = c.res;
  c.res = undefined;
  c.res = new Response(page, { status, headers });
});

const frameScript = [
  "const page=document.querySelector('main')",
  "const state=document.querySelector('form')?'asks':document.querySelector('.sign')?'answered':'closed'",
  "const say=()=>parent.postMessage({askback:state,height:Math.ceil(page.getBoundingClientRect().bottom+scrollY)},'*')",
  'new ResizeObserver(say).observe(page)',
].join(';');

const scriptHash = `sha256-${createHash('sha256').update(frameScript).digest('base64')}`;
