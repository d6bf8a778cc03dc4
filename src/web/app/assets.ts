import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { getMimeType } from 'hono/utils/mime';
import { notFound } from '../../errors.ts';
import { memoize } from '../../lib/async/memoize.ts';
import { acceptsGzip } from '../../lib/http/read-answer.ts';
import { assetBytes, hasAsset } from '../../lib/process/lifecycle.ts';
import { oneLine } from '../layout.tsx';
import { iconStyle } from './icon.tsx';

/** Serves `/assets/NAME.HASH.ext`. The hash changes with the content, so browsers cache it for a year. */
export const assetRoutes = () =>
  new Hono().get('/:file', async (c) => {
    const url = `/assets/${c.req.param('file')}`;
    const name = webAssetNames.find((asset) => assetUrl(asset) === url);
    if (!name) throw notFound('file');
    c.header('Vary', 'Accept-Encoding');
    c.header('Cache-Control', 'public, max-age=31536000, immutable');
    c.header('Content-Type', getMimeType(name)!);
    c.header('X-Content-Type-Options', 'nosniff');
    c.header('Cross-Origin-Resource-Policy', 'same-origin');
    if (!acceptsGzip(c.req.header('Accept-Encoding'))) {
      return c.body(new Uint8Array(readWebAsset(name)));
    }
    c.header('Content-Encoding', 'gzip');
    return c.body(compressed(name));
  });

/** Each asset with the files it is concatenated from. */
const sources = {
  'app.css': ['tokens', 'base', 'components', 'drawings', 'screens'].map(
    (name) => `src/web/assets/css/${name}.css`,
  ),
  'app.js': ['src/web/assets/app.js'],
  'inbox.js': ['src/web/assets/inbox.js'],
  'passkeys.js': ['src/web/assets/passkeys.js'],
  'htmx.js': ['node_modules/htmx.org/dist/htmx.min.js'],
  'embed.js': ['src/web/assets/embed.js'],
  'icon.svg': ['src/web/assets/icon.svg'],
} as const;

/** The name of an asset inside the executable. */
export const packedAsset = (name: WebAssetName) => `web/${name}`;

const compressed = memoize(
  100,
  (name: WebAssetName) => new Uint8Array(gzipSync(readWebAsset(name), { level: 9 })),
);

type WebAssetName = keyof typeof sources;

export const webAssetNames = Object.keys(sources) as WebAssetName[];

const minify = (css: string) => oneLine(css.replace(/\/\*.*?\*\//gs, ''));

/** Reads an asset from the executable, or concatenates it from the checkout. The style includes the icons. */
export function readWebAsset(name: WebAssetName): Buffer {
  const packed = packedAsset(name);
  if (hasAsset(packed)) return assetBytes(packed);
  const bytes = Buffer.concat(sources[name].map(assetBytes));
  return name === 'app.css' ? Buffer.from(minify(bytes.toString()) + iconStyle()) : bytes;
}

export const assetUrl = memoize(100, (name: WebAssetName) => {
  const hash = createHash('sha256').update(readWebAsset(name)).digest('base64url').slice(0, 12);
  const kind = extname(name);
  return `/assets/${basename(name, kind)}.${hash}${kind}`;
});
