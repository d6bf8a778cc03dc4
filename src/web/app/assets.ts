import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { getMimeType } from 'hono/utils/mime';
import { notFound } from '../../errors.ts';
import { memoize } from '../../lib/async/memoize.ts';
import { assetBytes, hasAsset } from '../../lib/process/lifecycle.ts';

/** `/assets/NAME.HASH.ext`, for a year: another content has another address. */
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
    if (!acceptsGzip.test(c.req.header('Accept-Encoding') ?? '')) {
      return c.body(new Uint8Array(readWebAsset(name)));
    }
    c.header('Content-Encoding', 'gzip');
    return c.body(compressed(name));
  });

const acceptsGzip = /(^|,)\s*gzip\s*(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i;

/** What browsers load besides pages, by its name in the address: the files it is made of, in their order. */
const sources = {
  'app.css': ['frame', 'controls', 'lists', 'screens'].map(
    (name) => `src/web/assets/css/${name}.css`,
  ),
  'app.js': ['src/web/assets/app.js'],
  'split.js': ['src/web/assets/split.js'],
  'passkeys.js': ['src/web/assets/passkeys.js'],
  'htmx.js': ['node_modules/htmx.org/dist/htmx.min.js'],
  'embed.js': ['src/web/assets/embed.js'],
  'icon.svg': ['src/web/assets/icon.svg'],
} as const;

/** The name of an asset inside the executable, where it lies whole, plain and compressed. */
export const packedAsset = (name: WebAssetName) => `web/${name}`;

/** From the executable as the build compressed it; from a checkout compressed when it is first asked for. */
const compressed = memoize(100, (name: WebAssetName) => {
  const packed = `${packedAsset(name)}.gz`;
  return new Uint8Array(hasAsset(packed) ? assetBytes(packed) : gzipSync(readWebAsset(name)));
});

type WebAssetName = keyof typeof sources;

export const webAssetNames = Object.keys(sources) as WebAssetName[];

/** The asset as it is served: whole from the executable, or put together from the checkout. */
export function readWebAsset(name: WebAssetName): Buffer {
  const packed = packedAsset(name);
  if (hasAsset(packed)) return assetBytes(packed);
  return Buffer.concat(sources[name].map(assetBytes));
}

/** The address of an asset. Its content names it, so that browsers may keep it as long as they like. */
export const assetUrl = memoize(100, (name: WebAssetName) => {
  const hash = createHash('sha256').update(readWebAsset(name)).digest('base64url').slice(0, 12);
  const kind = extname(name);
  return `/assets/${basename(name, kind)}.${hash}${kind}`;
});
